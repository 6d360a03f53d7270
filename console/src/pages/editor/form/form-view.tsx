/** One form for every field of the document: by its kind, and never for what the text has in another form. */
import type { Node } from 'jsonc-parser'
import { type ReactNode, useState } from 'react'
import { replaceText, setValue, swapElements, wrapInArray } from '../../../draft/json-edits.ts'
import { listMembers, memberNamed, nodeAt, type Place } from '../../../draft/json-places.ts'
import { Button } from '../../../ui/controls/button.tsx'
import { Checkbox, SelectField, TextField } from '../../../ui/controls/fields.tsx'
import { VisibleText } from '../../../ui/text/visible-text.tsx'
import { placePath, useForm } from './form-context.ts'
import { type FormField, isOffByDefault, starterValue } from './form-fields.ts'
import { FRAMELESS, fieldLabel, GROUPS, WITHOUT_FORM } from './form-table.ts'

type FieldProps = Readonly<{
  field: FormField
  at: Place
  /** In place of that of the field. */
  label?: string
  /** The label and the help are those of the list or map around it. */
  isBare?: boolean
}>

type ValueProps = FieldProps & Readonly<{ label: string; node: Node | undefined }>

export function FieldView({ field, at, label = field.label, isBare = false }: FieldProps) {
  const form = useForm()
  const found = nodeAt(form.root, at)
  // Other services write null for what is not set.
  const node = found?.type === 'null' ? undefined : found
  const isForm = fits(field, node)
  const View = VIEWS[field.kind]
  const view = <View field={field} at={at} label={label} isBare={isBare} node={node} />
  return (
    <div className={`form-field kind-${field.kind}`} data-path={placePath(at)}>
      {View !== Elsewhere && isForm ? view : <Elsewhere field={field} at={at} label={label} node={node} />}
      {form.renderExtra(field, at)}
    </div>
  )
}

/** Whether the form of a field can show a value without losing some of it. */
function fits({ kind, children: [first] }: FormField, node: Node | undefined): boolean {
  if (node === undefined) return true
  const { type } = node
  if (kind === 'text' || kind === 'expression') return type === 'string' || type === 'number'
  if (kind === 'number') return type === 'number' || (type === 'string' && /^\d+$/.test(String(node.value)))
  if (kind === 'flag') return type === 'boolean'
  if (kind === 'choice') return type === 'string'
  if (kind === 'list') return type === 'array' || (type === 'object' && first?.kind === 'group')
  if (kind === 'map' || kind === 'group') return type === 'object'
  if (kind !== 'either') return false
  return type === 'string' || type === 'number' || type === (first?.path.endsWith('[]') ? 'array' : 'object')
}

const Help = ({ text }: Readonly<{ text: string | undefined }>) =>
  text === undefined ? null : <p className="hint">{withCode(text)}</p>

/** In: Markdown of the schema, which has code and nothing else. */
const withCode = (text: string): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text keep their order
  text.split('`').map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>))

const Fault = ({ text }: Readonly<{ text: string | undefined }>) =>
  text === undefined ? null : <p className="fault">{text}</p>

function common({ field: { spec }, at, label, isBare }: ValueProps, faultAt: (path: string) => string | undefined) {
  const assumed = spec.assumed ?? (spec.default === undefined ? undefined : `\`${String(spec.default)}\``)
  const isLong = assumed !== undefined && assumed.length > MAX_PLACEHOLDER
  const help = `${spec.description ?? ''}${isLong ? ` Without it: ${assumed}.` : ''}`
  return {
    label,
    hideLabel: isBare === true,
    fault: faultAt(placePath(at)),
    hint: isBare ? '' : withCode(help),
    assumed: isLong ? undefined : assumed?.replaceAll('`', ''),
  }
}

/** What holds without a value is shown in its place, unless it is a sentence. */
const MAX_PLACEHOLDER = 24

/** Free JSON, a mapping, and values that the service reads but a form would change. */
function Elsewhere({ field, at, label, node }: Omit<ValueProps, 'isBare'>) {
  const form = useForm()
  const path = placePath(at)
  const { spec } = field
  const why = WITHOUT_FORM[field.path] ?? 'The text has it in a form of its own.'
  const size = node?.children?.length
  return (
    <div>
      <p>
        <strong>{label}</strong>{' '}
        {node === undefined ? (
          <span className="quiet">not set</span>
        ) : size === undefined ? (
          <VisibleText code text={JSON.stringify(node.value)} max={100} />
        ) : (
          <span className="quiet">{size === 0 ? 'empty' : 'set'}</span>
        )}{' '}
        {form.linkTo(path)}
      </p>
      <Help text={`${spec.description ?? ''} ${why}`} />
      <Fault text={form.faultAt(path, true)} />
    </div>
  )
}

function TextView(props: ValueProps) {
  const { field, at, node } = props
  const { spec, kind } = field
  const form = useForm()
  // What isn't a number yet is not in the draft.
  const [typed, setTyped] = useState<Readonly<{ text: string; over: string }>>()
  const value = node === undefined ? '' : String(node.value)
  const isOpen = typed?.over === value
  const { assumed, fault, ...shown } = common(props, form.faultAt)
  const example = spec.examples?.find((one) => typeof one === 'string')
  const suggestions = form.suggestionsFor(field, at)
  const take = (text: string) => {
    const isWhole = /^-?\d{1,15}$/.test(text)
    const waits = kind === 'number' && text !== '' && !isWhole
    setTyped(waits ? { text, over: value } : undefined)
    if (waits) return
    const isNumber = kind === 'number' || (node?.type !== 'string' && spec.types?.includes('integer') === true)
    const isElement = typeof at.at(-1) === 'number' || field.name === '<name>'
    const mayGo = kind === 'number' || !(isElement || spec.required)
    form.set(at, text === '' && mayGo ? undefined : isNumber && isWhole ? Number(text) : text)
  }
  return (
    <TextField
      {...shown}
      fault={isOpen ? 'This must be a whole number.' : fault}
      value={isOpen ? typed.text : value}
      placeholder={assumed ?? (example === undefined || spec.assumed ? '' : `such as ${example}`)}
      {...(kind === 'expression' || field.path === 'description' ? { rows: 2 } : {})}
      {...(suggestions && { suggestions })}
      onChange={take}
    />
  )
}

function ChoiceView(props: ValueProps) {
  const { field, at, node } = props
  const { spec, kind } = field
  const form = useForm()
  const isFlag = kind === 'flag'
  const value = node === undefined ? '' : String(node.value)
  if (isFlag && isOffByDefault(spec)) {
    return (
      <>
        <Checkbox checked={value === 'true'} onChange={(on) => form.set(at, on ? true : undefined)}>
          {props.label}
        </Checkbox>
        <Help text={spec.description} />
        <Fault text={form.faultAt(placePath(at))} />
      </>
    )
  }
  const { assumed, ...rest } = common(props, form.faultAt)
  const known = isFlag ? ['true', 'false'] : (spec.enum ?? [])
  const values = value === '' || known.includes(value) ? known : [value, ...known]
  const words: Readonly<Record<string, string>> = isFlag ? { true: 'yes', false: 'no' } : {}
  const none = { value: '', label: assumed === undefined ? 'not set' : `not set (${assumed})` }
  return (
    <SelectField
      {...rest}
      value={value}
      choices={[
        ...(spec.required && value !== '' ? [] : [none]),
        ...values.map((one) => ({ value: one, label: words[one] ?? one })),
      ]}
      onChange={(next) => form.set(at, next === '' ? undefined : isFlag ? next === 'true' : next)}
    />
  )
}

function ListView({ field, at, label, node }: ValueProps) {
  const form = useForm()
  const [item] = field.children
  if (item === undefined) return null
  // A single request needs no array.
  const isArray = node?.type === 'array'
  const items = isArray ? (node.children ?? []) : node === undefined ? [] : [node]
  const add = () =>
    form.change((text) => {
      const value = withUniqueId(starterValue(item), items)
      const wrapped = isArray || node === undefined ? text : wrapInArray(text, node)
      return setValue(wrapped, node === undefined ? at : [...at, items.length], node === undefined ? [value] : value)
    })
  const tools = (index: number) => {
    const name = `${label} ${index + 1}`
    const move = (by: number) => form.change((text) => (node ? swapElements(text, node, index, index + by) : text))
    const moves = item.kind === 'group' ? [-1, 1].filter((by) => items[index + by] !== undefined) : []
    return (
      <span className="form-tools">
        {moves.map((by) => (
          <Button key={by} tone="quiet" label={`Move ${by < 0 ? 'up' : 'down'}: ${name}`} onPress={() => move(by)}>
            {by < 0 ? '↑' : '↓'}
          </Button>
        ))}
        <Button
          text="×"
          tone="quiet"
          label={`Remove: ${name}`}
          onPress={() => form.set(isArray && items.length > 1 ? [...at, index] : at, undefined)}
        />
      </span>
    )
  }
  return (
    <Frame field={field} at={at} label={label}>
      {items.map((one, index) => {
        const place = isArray ? [...at, index] : at
        return item.kind === 'group' ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: an element has no other name than its place
          <Card key={index} title={<RequestTitle node={one} />} isOpen={items.length === 1} tools={tools(index)}>
            <div data-path={placePath(place)}>
              <Fault text={form.faultAt(placePath(place))} />
              <Members field={item} at={place} />
              {form.renderExtra(item, place)}
            </div>
          </Card>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          <div key={index} className="form-row">
            <FieldView field={item} at={place} label={`${label} ${index + 1}`} isBare />
            {tools(index)}
          </div>
        )
      })}
      <p>
        <Button text="Add" label={`Add: ${label}`} onPress={add} />
      </p>
    </Frame>
  )
}

/** A request of a new name, so that adding one is no fault. */
function withUniqueId(value: unknown, items: readonly Node[]): unknown {
  if (typeof value !== 'object' || value === null || !('id' in value)) return value
  const ids = new Set(items.map((one) => memberNamed(one, 'id')?.value as unknown))
  let id = String(value.id)
  for (let count = 2; ids.has(id); count += 1) id = `${String(value.id)}${count}`
  return { ...value, id }
}

type CardProps = Readonly<{ title: ReactNode; isOpen: boolean; tools?: ReactNode; children: ReactNode }>

function Card({ title, isOpen, tools, children }: CardProps) {
  const [open, setOpen] = useState(isOpen)
  return (
    <div className="form-card">
      {tools}
      <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>{title}</summary>
        {children}
      </details>
    </div>
  )
}

function RequestTitle({ node }: Readonly<{ node: Node }>) {
  const read = (name: string, of: Node | undefined = node) => {
    const value = memberNamed(of, name)?.value as unknown
    return typeof value === 'string' ? value : ''
  }
  const config = memberNamed(node, 'config')
  const target = read('kafkaProducerTopic') || `${read('method', config)} ${read('url', config)}`
  return (
    <>
      <VisibleText as="strong" text={read('id') || 'without a name'} max={100} />{' '}
      <VisibleText as="code" className="breaks" text={target} max={200} />
    </>
  )
}

function MapView({ field, at, label, node }: ValueProps) {
  const form = useForm()
  const [name, setName] = useState('')
  const [item] = field.children
  const members = listMembers(node)
  if (item === undefined) return null
  const refused =
    name.trim() === ''
      ? 'Type a name first.'
      : members.some((one) => one.name === name)
        ? 'This name is there already.'
        : undefined
  const add = (added = name) => {
    form.set([...at, added], starterValue(item))
    setName('')
  }
  const offered = (form.suggestionsFor(field, at) ?? []).filter((one) => !members.some((member) => member.name === one))
  return (
    <Frame field={field} at={at} label={label}>
      {members.map(({ name: known, key }) => (
        <div key={known} className="form-row">
          <NameField
            label={label}
            name={known}
            onRename={(next) => form.change((text) => replaceText(text, key, next))}
          />
          <FieldView field={item} at={[...at, known]} label={`${label}: ${known}`} isBare />
          <Button
            text="×"
            tone="quiet"
            label={`Remove: ${label} ${known}`}
            onPress={() => form.set([...at, known], undefined)}
          />
        </div>
      ))}
      <div className="form-row">
        <TextField
          label={`Name: ${label}`}
          hideLabel
          placeholder="Name"
          value={name}
          onKeyDown={({ key }) => key === 'Enter' && refused === undefined && add()}
          onChange={setName}
        />
        <Button text="Add" label={`Add: ${label}`} refused={refused} onPress={() => add()} />
        {offered.map((one) => (
          <Button key={one} label={`Add ${one}: ${label}`} onPress={() => add(one)}>
            Add <VisibleText text={one} max={60} />
          </Button>
        ))}
      </div>
    </Frame>
  )
}

type NameFieldProps = Readonly<{ label: string; name: string; onRename(name: string): void }>

/** A name changes when it is typed in full: half of one may be that of another member. */
function NameField({ label, name, onRename }: NameFieldProps) {
  const [typed, setTyped] = useState(name)
  return (
    <TextField
      label={`Name in ${label}: ${name}`}
      hideLabel
      value={typed}
      onChange={setTyped}
      onDone={() => (typed.trim() === '' ? setTyped(name) : typed !== name && onRename(typed))}
    />
  )
}

function GroupView({ field, at, label, node }: ValueProps) {
  const form = useForm()
  const { spec, name } = field
  if (FRAMELESS.has(name) || name === '<name>') return <Members field={field} at={at} />
  const isFixed = spec.required === true || spec.default !== undefined
  const title = isFixed ? (
    label
  ) : (
    <Checkbox checked={node !== undefined} onChange={(on) => form.set(at, on ? starterValue(field) : undefined)}>
      {label}
    </Checkbox>
  )
  return (
    <Frame field={field} at={at} label={title}>
      {(isFixed || node !== undefined) && <Members field={field} at={at} />}
    </Frame>
  )
}

type FrameProps = Readonly<{ field: FormField; at: Place; label: ReactNode; children: ReactNode }>

function Frame({ field, at, label, children }: FrameProps) {
  const { faultAt } = useForm()
  return (
    <fieldset className="form-group">
      <legend>{label}</legend>
      <Help text={field.spec.description} />
      <Fault text={faultAt(placePath(at))} />
      {children}
    </fieldset>
  )
}

/** The members of an object in their groups. `chosen`: the one of several that is chosen elsewhere. */
function Members({ field, at, chosen }: Readonly<{ field: FormField; at: Place; chosen?: string }>) {
  const form = useForm()
  const { children, oneOf } = field
  const node = nodeAt(form.root, at)
  const groups = GROUPS[field.path] ?? []
  const grouped = new Set(groups.flatMap(({ fields }) => fields))
  const view = (child: FormField) => {
    if (!oneOf.includes(child.name)) return <FieldView key={child.name} field={child} at={[...at, child.name]} />
    if (chosen !== undefined) {
      return child.name === chosen && <FieldView key={child.name} field={child} at={[...at, chosen]} isBare />
    }
    return child.name === oneOf[0] && <OneOf key={child.name} field={field} at={at} node={node} />
  }
  return (
    <div className="form-members">
      {children.filter(({ name }) => !grouped.has(name)).map(view)}
      {groups.map(({ title, fields }) => {
        const isSet = fields.some((name) => memberNamed(node, name) !== undefined)
        const inner = children.filter(({ name }) => fields.includes(name))
        return (
          <Card key={title} title={title} isOpen={isSet}>
            <div className="form-members">{inner.map(view)}</div>
          </Card>
        )
      })}
    </div>
  )
}

/** Members of which there is one: the choice, and each that the text has. */
function OneOf({ field, at, node }: Readonly<{ field: FormField; at: Place; node: Node | undefined }>) {
  const form = useForm()
  const ways = field.children.filter(({ name }) => field.oneOf.includes(name))
  const there = ways.filter(({ name }) => memberNamed(node, name) !== undefined)
  const [first] = there
  return (
    <>
      <SelectField
        label={field.oneOfLabel}
        value={first?.name ?? ''}
        choices={[
          ...(first === undefined ? [{ value: '', label: 'Choose …' }] : []),
          ...ways.map(({ name, label }) => ({ value: name, label })),
        ]}
        onChange={(name) => {
          const next = ways.find((way) => way.name === name)
          if (next !== undefined) form.change((text) => choose(text, at, there, next, node))
        }}
      />
      {there.map((way) => (
        <FieldView key={way.name} field={way} at={[...at, way.name]} />
      ))}
    </>
  )
}

/** One of several in place of what there is; a text is kept as the text of the other. */
function choose(
  text: string,
  at: Place,
  before: readonly FormField[],
  next: FormField,
  node: Node | undefined,
): string {
  const gone = before.filter(({ name }) => name !== next.name)
  const starter = starterValue(next)
  const kept: unknown = gone.map(({ name }) => memberNamed(node, name)?.value as unknown)[0]
  const isText = (name: string) => name === 'path' || name === 'expression'
  const isKept = typeof kept === 'string' && gone.every(({ name }) => isText(name)) && isText(next.name)
  const without = gone.reduce((now, { name }) => setValue(now, [...at, name], undefined), text)
  return setValue(without, [...at, next.name], isKept ? kept : starter)
}

/** A text, or an object or a list in its place. */
function EitherView(props: ValueProps) {
  const { field, at, label, node } = props
  const form = useForm()
  const { children, oneOf, spec } = field
  const isList = children[0]?.path.endsWith('[]') === true
  const now = node?.type === 'object' ? (oneOf.find((name) => memberNamed(node, name)) ?? oneOf[0]) : node?.type
  const chosen = now === 'array' || node?.type === 'object' ? now : 'text'
  const others = isList ? ['array'] : oneOf.filter((name) => name === chosen || !(spec.reads && name === 'path'))
  const text = typeof node?.value === 'string' ? node.value : ''
  const take = (next: string) => {
    const old: unknown = chosen === undefined || chosen === 'text' ? text : memberNamed(node, chosen)?.value
    const kept = typeof old === 'string' ? old : ''
    form.set(at, next === 'text' ? kept : next === 'array' ? [kept] : { [next]: kept })
  }
  return (
    <div className="form-either">
      <SelectField
        label={props.isBare ? `Kind: ${label}` : 'Kind'}
        hideLabel={props.isBare === true}
        value={chosen ?? 'text'}
        choices={[
          { value: 'text', label: spec.reads ? 'Path' : 'Text' },
          ...others.map((name) => ({ value: name, label: name === 'array' ? 'Several' : fieldLabel(name) })),
        ]}
        onChange={take}
      />
      {chosen === 'text' ? (
        <TextView {...props} />
      ) : chosen === 'array' ? (
        <ListView {...props} />
      ) : (
        <Members field={field} at={at} chosen={chosen ?? ''} />
      )}
    </div>
  )
}

const VIEWS = {
  text: TextView,
  expression: TextView,
  number: TextView,
  flag: ChoiceView,
  choice: ChoiceView,
  list: ListView,
  map: MapView,
  group: GroupView,
  either: EitherView,
  mapping: Elsewhere,
  json: Elsewhere,
} as const
