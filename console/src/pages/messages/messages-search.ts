/** The search parameters of /messages and /messages/:id: the filters of the API under their own names. */
import { asOneOf, asText, asTexts, readSearch, type SearchOf } from '../../ui/search-params.ts'

const PARAMETERS = {
  endpoint: asTexts,
  outcome: asTexts,
  code: asTexts,
  stage: asTexts,
  path: asTexts,
  error: asTexts,
  version: asTexts,
  group: asText,
  id: asTexts,
  source: asTexts,
  key: asTexts,
  status: asTexts,
  replayOf: asTexts,
  replayed: asOneOf(['true', 'false']),
  from: asText,
  to: asText,
}

export const readMessagesSearch = readSearch(PARAMETERS)
export type MessagesSearch = SearchOf<typeof PARAMETERS>
