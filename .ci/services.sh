#!/bin/sh
# Makes sure that what the tests start themselves is installed. Starts nothing.
set -eu
command -v redis-server >/dev/null 2>&1 && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing redis-server, which the tests start on free ports of their own." >&2
  export DEBIAN_FRONTEND=noninteractive
  # Debian starts a server of its own on installation; the tests do not want it.
  printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d
  trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  apt-get update -qq >/dev/null && apt-get install -y -qq --no-install-recommends redis-server >/dev/null
  exit 0
fi
echo "The tests need redis-server 7 or newer on the PATH. Install it (Debian: apt-get install redis-server; macOS: brew install redis) and run again." >&2
exit 1
