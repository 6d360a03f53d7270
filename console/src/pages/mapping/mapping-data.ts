/** The messages that the URL names, or that somebody typed. */
import { useMemo } from 'react'
import { type ApiFailure, asFailure, ApiFailure as Failure } from '../../api/api-failure.ts'
import type { MappingSearch } from './mapping-search.ts'
import type { KeptData } from './use-kept-data.ts'
import { type MessageData, useRecentMessages, useTestData } from './use-mapping-runs.ts'

export function useMappingData(id: string, { message, test, more = 0 }: MappingSearch, kept: KeptData) {
  const isNamed = [message, test, kept.message].some((name) => name !== undefined)
  const typed = isNamed ? undefined : kept.typed
  const recent = useRecentMessages(id)
  const ofTest = useTestData(id, test)
  const messages = recent.data
  const data = useMemo((): MessageData | undefined => {
    if (typed !== undefined) {
      const { body, contentType } = typed
      return { name: 'the typed message', given: [{ message: { body, ...(contentType && { contentType }) } }] }
    }
    if (message !== undefined) {
      const others = (messages ?? []).map((one) => one.id).filter((one) => one !== message)
      const ids = [message, ...others.slice(0, more)]
      return {
        name: ids.length === 1 ? `message ${message}` : `${ids.length} messages`,
        given: ids.map((messageId) => ({ messageId })),
      }
    }
    return ofTest.data ? { name: `the test "${test}"`, given: [ofTest.data] } : undefined
  }, [typed, message, more, messages, ofTest.data, test])
  return { data, recent: messages ?? NONE, hasTyped: typed !== undefined, failure: findTestFailure(test, ofTest) }
}

const NONE: readonly never[] = []

function findTestFailure(
  test: string | undefined,
  { data, error }: ReturnType<typeof useTestData>,
): ApiFailure | undefined {
  if (error !== null) return asFailure(error)
  return test !== undefined && data === null ? new Failure(`There is no test "${test}".`, { status: 404 }) : undefined
}
