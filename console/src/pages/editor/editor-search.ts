/** The search parameters of the editor and the mapping view: the data that they run on. */
import { asOneOf, asText, readSearch, type SearchOf } from '../../ui/search-params.ts'

const PARAMETERS = {
  /** The id of a recorded message. */
  message: asText,
  /** The name of a stored test. */
  test: asText,
  /** Of the editor: the path of the field to go to. */
  path: asText,
  /** Of the editor: saves the loaded message as a test. */
  save: asOneOf(['test']),
}

export const readEditorSearch = readSearch(PARAMETERS)
export type EditorSearch = SearchOf<typeof PARAMETERS>
