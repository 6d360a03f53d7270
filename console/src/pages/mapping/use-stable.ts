/** What keeps large parts of the page from being drawn again at each key. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** A callback that stays the same while what it does changes. Not to be called while rendering. */
export function useStable<Given extends readonly unknown[], Result>(
  call: (...given: Given) => Result,
): (...given: Given) => Result {
  const latest = useRef(call)
  useLayoutEffect(() => {
    latest.current = call
  })
  return useCallback((...given: Given) => latest.current(...given), [])
}

/** The value as it was once it has not changed for `ms`; the first one at once, and while there was none. */
export function useSettled<Value>(value: Value | undefined, ms: number): Value | undefined {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    if (value === undefined || value === settled) return undefined
    if (settled === undefined) {
      setSettled(value)
      return undefined
    }
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, settled, ms])
  return settled
}
