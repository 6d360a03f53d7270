/** `j` and `k` go through the rows of a list. Each row has one link or button with `data-row`; Enter is its own. */
import { type RefObject, useCallback } from 'react'
import { useKey } from './keymap.ts'

/** In: the element that has the rows. */
export function useRowKeys(container: RefObject<HTMLElement | null>): void {
  const move = useCallback(
    (by: number) => {
      const rows = [...(container.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])]
      const focused = document.activeElement
      const focusedAt = rows.findIndex((row) => row === focused || row.closest('tr, li')?.contains(focused) === true)
      // The row whose detail is open is where the reader is, wherever the focus is.
      const at = focusedAt === -1 ? rows.findIndex((row) => row.closest('[aria-current]') !== null) : focusedAt
      const next = at === -1 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))
      rows[next]?.focus()
      rows[next]?.scrollIntoView({ block: 'nearest' })
    },
    [container],
  )
  useKey('j', 'Next row', () => move(1))
  useKey('k', 'Previous row', () => move(-1))
}
