/** Stands in until the rules of the import are merged. */
import type { Conversion, ConversionOptions } from './conversion.ts'
import type { FoundSet } from './found-document.ts'

export const convertDocuments = ({ documents }: FoundSet, _options: ConversionOptions): Conversion => ({
  documents: documents.map(({ source, document }) => ({ source, document, changes: [] })),
  secrets: [],
})
