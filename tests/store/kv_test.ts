import { storeContract } from "../contract/store.ts";
import { kvFile } from "../contract/targets.ts";

storeContract("store over kv", kvFile);
