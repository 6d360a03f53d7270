/** A field with suggestions that narrow while somebody types; other values are allowed where the page says so. */
import { Button } from 'react-aria-components/Button'
import { ComboBox } from 'react-aria-components/ComboBox'
import { Input } from 'react-aria-components/Input'
import { Label } from 'react-aria-components/Label'
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox'
import { Popover } from 'react-aria-components/Popover'

export type Suggestion = Readonly<{ value: string; hint?: string }>

export type ComboFieldProps = Readonly<{
  label: string
  value: string
  suggestions: readonly Suggestion[]
  /** Called with each text that is typed, and with a suggestion that is taken. */
  onChange(value: string): void
  /** Called when a suggestion is taken, or Enter is pressed on another text. */
  onTake?(value: string): void
  allowsOther?: boolean
  /** Takes the focus when it appears, as the first field of a dialog. */
  autoFocus?: boolean
}>

const MAX_OPTIONS = 200

export function ComboField({
  label,
  value,
  suggestions,
  onChange,
  onTake,
  allowsOther = false,
  autoFocus = false,
}: ComboFieldProps) {
  const text = value.toLowerCase()
  const fitting = suggestions.filter((one) => one.value.toLowerCase().includes(text)).slice(0, MAX_OPTIONS)
  return (
    <ComboBox
      className="field"
      autoFocus={autoFocus}
      menuTrigger="focus"
      inputValue={value}
      onInputChange={onChange}
      allowsCustomValue={allowsOther}
      items={fitting}
      onChange={(key) => onTake?.(key === null ? value : String(key))}
    >
      <Label>{label}</Label>
      <div className="combo">
        <Input spellCheck={false} />
        <Button className="button quiet" aria-label={`Suggestions: ${label}`}>
          ▾
        </Button>
      </div>
      <Popover className="popover">
        <ListBox<Suggestion> className="menu palette-list">
          {({ value: suggested, hint }) => (
            <ListBoxItem id={suggested} textValue={suggested} className="palette-item between">
              <span>{suggested}</span>
              {hint === undefined ? null : <span className="quiet">{hint}</span>}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  )
}
