/** The bounds of pairs of messages and what they become, from which a document is derived. */
export const MAX_EXAMPLES = 200
export const MAX_EXAMPLE_BYTES = 8 * 1_048_576
