/** A button. What the user may not do stays visible, and says why. */
import { type MouseEvent, type ReactNode, type Ref, useId } from 'react'
import { Focusable, Tooltip, TooltipTrigger } from 'react-aria-components/Tooltip'

export type ButtonProps = Readonly<{
  /** What it says; `children` where that is more than a text. */
  text?: string
  children?: ReactNode
  onPress?: (() => void) | undefined
  /** Why it does nothing now, such as what `useRefusal` returns. */
  refused?: string | undefined
  /** Its work is in progress: it cannot be pressed again until then. */
  busy?: boolean
  tone?: 'plain' | 'primary' | 'danger' | 'quiet'
  type?: 'button' | 'submit'
  /** For a button that shows a sign only. */
  label?: string
  /** As `aria-keyshortcuts`: the key itself is registered with `useKey`. */
  keys?: string
  pressed?: boolean
  expanded?: boolean
  ref?: Ref<HTMLButtonElement>
}>

/** A refused button keeps the focus and its place, so that everybody can read the reason. */
export function Button({ refused, busy = false, tone = 'plain', type = 'button', onPress, ...rest }: ButtonProps) {
  const reason = useId()
  const isOff = refused !== undefined || busy
  const press = (event: MouseEvent) => {
    if (isOff) event.preventDefault()
    else onPress?.()
  }
  const button = (
    <button
      ref={rest.ref}
      type={type}
      className={`button ${tone}`}
      aria-disabled={isOff || undefined}
      aria-busy={busy || undefined}
      aria-label={rest.label}
      aria-describedby={refused === undefined ? undefined : reason}
      aria-keyshortcuts={rest.keys}
      aria-pressed={rest.pressed}
      aria-expanded={rest.expanded}
      onClick={press}
    >
      {rest.text ?? rest.children}
    </button>
  )
  if (refused === undefined) return button
  return (
    <TooltipTrigger delay={200} closeDelay={100}>
      <Focusable>{button}</Focusable>
      <span id={reason} hidden>
        {refused}
      </span>
      <Tooltip className="tooltip" offset={6}>
        {refused}
      </Tooltip>
    </TooltipTrigger>
  )
}
