#!/bin/sh
# Makes sure that what the tests start themselves is installed. Starts nothing.
set -eu
missing=""
command -v redis-server >/dev/null 2>&1 || missing="$missing redis-server"
command -v postgres >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || missing="$missing postgresql"
command -v openssl >/dev/null 2>&1 || missing="$missing openssl"
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing$missing, which the tests start on free ports of their own." >&2
  export DEBIAN_FRONTEND=noninteractive
  # Debian starts a server of its own on installation; the tests do not want it.
  printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d
  trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  # shellcheck disable=SC2086 # a list of packages
  apt-get update -qq >/dev/null && apt-get install -y -qq --no-install-recommends $missing >/dev/null
  exit 0
fi
echo "The tests need redis-server 7 or newer and openssl on the PATH, and PostgreSQL 12 or newer. Install$missing and run again (Debian: apt-get install$missing; macOS: brew install redis postgresql openssl)." >&2
exit 1
