/** A callback that stays the same while what it does changes, so that large parts of the page need not be drawn again. */
import { useCallback, useLayoutEffect, useRef } from 'react'

/** Not to be called while rendering. */
export function useStable<Given extends readonly unknown[], Result>(
  call: (...given: Given) => Result,
): (...given: Given) => Result {
  const latest = useRef(call)
  useLayoutEffect(() => {
    latest.current = call
  })
  return useCallback((...given: Given) => latest.current(...given), [])
}
