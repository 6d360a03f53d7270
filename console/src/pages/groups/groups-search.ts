/** The search parameters of /groups: the filters of the API; what somebody usually looks for needs none. */
import type { MessageFilters } from '../../api/records/record-types.ts'
import { asChoice, asText, asTexts, readSearch, type SearchValues } from '../../ui/search-params.ts'

const PARAMETERS = {
  state: asChoice(['open', 'acknowledged', 'ignored', 'all']),
  /** `all`: failures whose replay succeeded are counted too, and replays that failed. */
  replayed: asChoice(['true', 'all']),
  source: asTexts,
  endpoint: asTexts,
  outcome: asTexts,
  code: asTexts,
  stage: asTexts,
  error: asTexts,
  from: asText,
  to: asText,
}

export const readGroupsSearch = readSearch(PARAMETERS)
export type GroupsSearch = SearchValues<typeof PARAMETERS>

/** The filters of the API: open groups, of messages that no replay has fixed, unless the URL says otherwise. */
export function toGroupFilters({ state = 'open', replayed, ...others }: GroupsSearch): MessageFilters {
  // Replays are in no filter by `replayed`.
  const isOfReplays = others.source?.includes('replay') === true
  return {
    ...others,
    ...(state !== 'all' && { state: [state] }),
    ...(replayed !== 'all' && !isOfReplays && { replayed: replayed ?? 'false' }),
  }
}
