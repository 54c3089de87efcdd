import { storeContract } from "../contract/store.ts";
import { sqliteFile } from "../contract/targets.ts";

storeContract("store over sqlite", sqliteFile);
