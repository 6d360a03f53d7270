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
        <Button
          text="Require every field with its type"
          onPress={() => change((now) => fields.reduce(proposed, now))}
        />{' '}
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

function Rule({ field: { title, type, range, pattern, parent, name, ...field }, at, schema }: RuleProps) {
  const { change } = useForm()
  const found = within(schema, field.at)
  const rule = isRecord(found) ? found : {}
  // The service reads two names of each bound.
  const [low, high] = [rule.min === undefined ? 'minimum' : 'min', rule.max === undefined ? 'maximum' : 'max']
  const set = (values: Readonly<Record<string, unknown>>) =>
    change((text) =>
      Object.entries(values).reduce(
        (now, [keyword, value]) => setValue(now, [...at, ...field.at, keyword], value),
        text,
      ),
    )
  const ticks = [
    { word: `Type ${typeof rule.type === 'string' ? rule.type : type}`, values: { type } },
    { word: 'Range', values: range && { [low]: range.minimum, [high]: range.maximum } },
    { word: 'Pattern', values: pattern === undefined ? undefined : { pattern } },
  ]
  const isOwn = typeof rule.errorMessage === 'string'
  const mayOwn = isOwn || (rule.errorMessage === undefined && Object.keys(rule).length > 0)
  const texts = [
    { keyword: low, word: 'At least', isNumber: true, isShown: rule[low] !== undefined },
    { keyword: high, word: 'At most', isNumber: true, isShown: rule[high] !== undefined },
    { keyword: 'pattern', word: 'Pattern', isShown: rule.pattern !== undefined },
    { keyword: 'errorMessage', word: 'Own message', isShown: mayOwn },
  ]
  return (
    <fieldset className="form-rule">
      <legend>
        <VisibleText as="code" className="breaks" text={title} max={200} />
      </legend>
      {parent !== undefined && (
        <Checkbox
          checked={listed(within(schema, [...parent, 'required'])).includes(name)}
          onChange={(isOn) => change((text) => setRequired(text, [...at, ...parent], name, isOn))}
        >
          Required
        </Checkbox>
      )}
      {ticks.map(
        ({ word, values }) =>
          values && (
            <Checkbox
              key={word}
              checked={Object.keys(values).some((keyword) => rule[keyword] !== undefined)}
              onChange={(isOn) =>
                set(isOn ? values : Object.fromEntries(Object.keys(values).map((keyword) => [keyword, undefined])))
              }
            >
              {word}
            </Checkbox>
          ),
      )}
      {texts.map(
        ({ keyword, word, isNumber = false, isShown }) =>
          isShown && (
            <TextField
              key={keyword}
              label={`${word}: ${title}`}
              hideLabel
              placeholder={word}
              type={isNumber ? 'number' : 'text'}
              value={String(rule[keyword] ?? '')}
              onChange={(text) => set({ [keyword]: text === '' ? undefined : isNumber ? Number(text) : text })}
            />
          ),
      )}
    </fieldset>
  )
}
