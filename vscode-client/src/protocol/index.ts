// The server's extensions of the protocol: a mirror of excise_server/lsp/protocol.py,
// whose contract is docs/lsp-extensions.md. A test compares every interface with both.
export type * from "./actions";
export type * from "./candidates";
export type * from "./reports";
export type * from "./review";
export type * from "./revisions";
export type * from "./sources";
export { DID_CHANGE_REPORT, type Methods } from "./methods";
