/** The types of what the API takes and answers. */
export type { Paths, Schemas } from '../../../src/api/types.ts'
