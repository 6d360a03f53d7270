/** Names that reach a prototype where a careless reader assigns them: refused wherever a document names a field. */
export const REFUSED_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
