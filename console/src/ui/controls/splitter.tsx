/** A bar after a part of the page that sets its size, by the pointer or by the arrow keys. */
import type { KeyboardEvent, PointerEvent } from 'react'

export type SplitterProps = Readonly<{
  label: string
  /** Percent: of the height of the window, or, if the bar is upright, of the width of the element around it. */
  value: number
  min: number
  max: number
  isUpright?: boolean
  onChange(value: number): void
}>

const STEP = 2

export function Splitter({ label, value, min, max, isUpright = false, onChange }: SplitterProps) {
  const change = (next: number) => {
    const whole = Math.round(Math.min(max, Math.max(min, next)))
    if (whole !== value) onChange(whole)
  }
  const onPointerMove = ({ currentTarget: bar, pointerId, clientX, clientY }: PointerEvent<HTMLElement>) => {
    const before = bar.previousElementSibling?.getBoundingClientRect()
    if (before === undefined || !bar.hasPointerCapture(pointerId)) return
    const all = isUpright ? (bar.parentElement?.clientWidth ?? 1) : window.innerHeight
    change(((isUpright ? clientX - before.left : clientY - before.top) / all) * 100)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const [less, more] = isUpright ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown']
    const next = { [less]: value - STEP, [more]: value + STEP, Home: min, End: max }[event.key]
    if (next === undefined) return
    event.preventDefault()
    change(next)
  }
  return (
    <hr
      className="splitter"
      tabIndex={0}
      aria-label={label}
      aria-orientation={isUpright ? 'vertical' : 'horizontal'}
      aria-valuenow={value}
      aria-valuemin={min}
      aria-valuemax={max}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
      onKeyDown={onKeyDown}
    />
  )
}
