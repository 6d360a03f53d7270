/** The search parameters of the editor and the mapping view: the data that they run on. */
import { asChoice, asText, readSearch, type SearchValues } from '../../ui/search-params.ts'

const PARAMETERS = {
  /** The id of a recorded message. */
  message: asText,
  /** The name of a stored test. */
  test: asText,
  /** Of the editor: the path of the field to go to. */
  path: asText,
  /** Of the editor: saves the loaded message as a test. */
  save: asChoice(['test']),
}

export const readEditorSearch = readSearch(PARAMETERS)
export type EditorSearch = SearchValues<typeof PARAMETERS>
