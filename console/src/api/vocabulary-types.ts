/** What the service says of documents, for modules that call nothing. */
import type { Schemas } from '../../../src/api/types.ts'

export type Vocabulary = Schemas['Vocabulary']
