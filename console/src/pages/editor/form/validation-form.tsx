/** The validation of messages from a sample: for each field of the loaded message what the schema says of it, to be ticked. */
import { useMemo } from 'react'
import { isRecord } from '../../../api/given-parts.ts'
import type { RunReport } from '../../../api/run-calls.ts'
import { setValue } from '../../../draft/json-edits.ts'
import { nodeAt, type Place, readTree } from '../../../draft/json-places.ts'
import { Button } from '../../../ui/controls/button.tsx'
import { Checkbox, TextField } from '../../../ui/controls/fields.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'
import { useForm } from './form-context.ts'
import { readSample, type SampleField } from './validation-rules.ts'

/** The schema at a place of the draft as values; undefined if there is none. */
function schemaAt(text: string, at: Place): unknown {
  const node = nodeAt(readTree(text), at)
  return node && JSON.parse(text.slice(node.offset, node.offset + node.length))
}

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Lets a schema require a name, or not. */
function setRequired(text: string, at: Place, name: string, isOn: boolean): string {
  const place = [...at, 'required']
  const now = listed(schemaAt(text, place))
  const names = isOn ? [...now, name] : now.filter((one) => one !== name)
  return setValue(text, place, names.length === 0 ? undefined : names)
}

type ValidationFormProps = Readonly<{ at: Place; text: string; report: RunReport | undefined }>

export function ValidationForm({ at, text, report }: ValidationFormProps) {
  const { change } = useForm()
  const body = useMemo(() => {
    const parsed = (report?.stages ?? []).map(({ input, output }) => output?.requestBody ?? input.requestBody)
    return parsed.find((one) => typeof one === 'object' && one !== null)
  }, [report])
  const schema = useMemo(() => schemaAt(text, at), [text, at])
  const fields = useMemo(() => readSample(body, schema), [body, schema])
  if (fields.length === 0) {
    return (
      <p>
        Enter a message beside the form, or load a recorded one: each of its fields is then listed here, with types,
        ranges and patterns to tick.
      </p>
    )
  }
  const proposed = (now: string, { at: below, type, parent, name }: SampleField): string => {
    const place = [...at, ...below]
    const isOpen = schemaAt(now, place) === undefined
    const typed = isOpen ? setValue(now, [...place, 'type'], type) : now
    return isOpen && parent !== undefined ? setRequired(typed, [...at, ...parent], name, true) : typed
  }
  return (
    <section className="form-rules" aria-label="Rules for the fields of the message">
      <p>
        <Button onPress={() => change((now) => fields.reduce(proposed, now))}>Require every field with its type</Button>{' '}
        <span className="hint">Fields that have a rule keep it.</span>
      </p>
      {fields.map((field) => (
        <Rule key={field.title} field={field} at={at} schema={schema} />
      ))}
    </section>
  )
}

const within = (schema: unknown, place: Place): unknown =>
  place.reduce((now, step) => (isRecord(now) && Object.hasOwn(now, step) ? now[step] : undefined), schema)

type RuleProps = Readonly<{ field: SampleField; at: Place; schema: unknown }>

function Rule({ field, at, schema }: RuleProps) {
  const { change } = useForm()
  const { title, type, range, pattern, parent, name } = field
  const place = [...at, ...field.at]
  const found = within(schema, field.at)
  const rule = isRecord(found) ? found : {}
  const isRequired = parent !== undefined && listed(within(schema, [...parent, 'required'])).includes(name)
  const set = (values: Readonly<Record<string, unknown>>) =>
    change((text) =>
      Object.entries(values).reduce((now, [keyword, value]) => setValue(now, [...place, keyword], value), text),
    )
  // The service reads two names of each bound.
  const bounds = (['minimum', 'maximum'] as const).map((long) => {
    const keyword = rule[long] === undefined && rule[long.slice(0, 3)] !== undefined ? long.slice(0, 3) : long
    return { long, keyword, value: rule[keyword] }
  })
  const hasRange = bounds.some(({ value }) => value !== undefined)
  const isRuled = Object.keys(rule).length > 0
  return (
    <fieldset className="form-rule">
      <legend>
        <code className="breaks">
          <VisibleText text={title} max={200} />
        </code>
      </legend>
      <Checkbox
        checked={rule.type !== undefined}
        onChange={(isOn) => set({ type: isOn ? type : undefined })}
      >{`Type ${typeof rule.type === 'string' ? rule.type : type}`}</Checkbox>
      {parent !== undefined && (
        <Checkbox
          checked={isRequired}
          onChange={(isOn) => change((text) => setRequired(text, [...at, ...parent], name, isOn))}
        >
          Required
        </Checkbox>
      )}
      {range !== undefined && (
        <Checkbox
          checked={hasRange}
          onChange={(isOn) =>
            set(Object.fromEntries(bounds.map(({ long, keyword }) => [keyword, isOn ? range[long] : undefined])))
          }
        >
          Range
        </Checkbox>
      )}
      {hasRange &&
        bounds.map(({ long, keyword, value }) => (
          <TextField
            key={long}
            label={`${long === 'minimum' ? 'At least' : 'At most'}: ${title}`}
            hideLabel
            placeholder={long === 'minimum' ? 'at least' : 'at most'}
            type="number"
            value={value === undefined ? '' : String(value)}
            onChange={(text) => set({ [keyword]: text === '' ? undefined : Number(text) })}
          />
        ))}
      {pattern !== undefined && (
        <Checkbox
          checked={rule.pattern !== undefined}
          onChange={(isOn) => set({ pattern: isOn ? pattern : undefined })}
        >
          Pattern
        </Checkbox>
      )}
      {typeof rule.pattern === 'string' && (
        <TextField
          label={`Pattern: ${title}`}
          hideLabel
          value={rule.pattern}
          onChange={(text) => set({ pattern: text })}
        />
      )}
      {isRuled && (rule.errorMessage === undefined || typeof rule.errorMessage === 'string') && (
        <TextField
          label={`Own message: ${title}`}
          hideLabel
          placeholder="Own message"
          value={rule.errorMessage ?? ''}
          onChange={(text) => set({ errorMessage: text === '' ? undefined : text })}
        />
      )}
    </fieldset>
  )
}
