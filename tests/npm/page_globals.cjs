// SPDX-License-Identifier: Apache-2.0
//
// What OpenUSD's package expects of the page that it was built for, in each of its threads: an address, and
// files that arrive by themselves.
globalThis.location = { pathname: "/", href: "/" };
globalThis.XMLHttpRequest = class {
  open() {}
  send() {}
};
