/** The function of an entry with a form of its parameters, as the vocabulary has them. */
import { useState } from 'react'
import type { Schemas } from '../../../api/client.ts'
import { Button } from '../../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../../ui/controls/fields.tsx'
import { readCodes, readTyped, showCodes, showTyped } from '../model/made-values.ts'
import type { MappingLine } from '../model/mapping-entries.ts'
import { TableBeside } from './table-beside.tsx'

export type MappingFunctions = Schemas['Vocabulary']['mappingFunctions']
type Parameters = Readonly<Record<string, unknown>>

type FunctionFieldProps = Readonly<{
  line: MappingLine
  functions: MappingFunctions
  /** A value of the source. */
  sample: unknown
  isLocked: boolean
  /** `parameters`: JSON text. Out: why it was not done. */
  onCommit(name: string | undefined, parameters?: string): string | undefined
}>

export function FunctionField({ line, functions, sample, isLocked, onCommit }: FunctionFieldProps) {
  const { transform } = line.target
  const now = transform?.name ?? ''
  const [chosen, setChosen] = useState(now)
  const [known, setKnown] = useState(now)
  const [fault, setFault] = useState<string>()
  if (known !== now) {
    setKnown(now)
    setChosen(now)
  }
  const found = functions.find(({ name }) => name === chosen)
  const before = readParameters(transform?.text)
  const names = isLocked ? [now] : [...new Set(['', ...functions.map(({ name }) => name), now])]
  const choose = (name: string) => {
    setChosen(name)
    const { parameters = [] } = functions.find((one) => one.name === name) ?? {}
    if (parameters.length === 0 && name !== now) setFault(onCommit(name === '' ? undefined : name))
  }
  return (
    <>
      <SelectField
        label="Function"
        value={chosen}
        choices={names.map((name) => ({ value: name, label: name === '' ? 'None' : name }))}
        onChange={choose}
        fault={fault}
        hint={found?.means}
      />
      {found !== undefined && found.parameters.length > 0 && (
        <ParameterForm
          key={`${line.id} ${chosen} ${transform?.text ?? ''}`}
          of={found}
          before={chosen === now ? before : undefined}
          sample={sample}
          isLocked={isLocked}
          onUse={(parameters) => onCommit(chosen, toText(parameters))}
        />
      )}
      {transform === undefined ? null : <TableBeside text={transform.text} />}
    </>
  )
}

type ParameterFormProps = Readonly<{
  of: MappingFunctions[number]
  before: Parameters | undefined
  sample: unknown
  isLocked: boolean
  onUse(parameters: Parameters): string | undefined
}>

function ParameterForm({ of: { name, parameters }, before = {}, sample, isLocked, onUse }: ParameterFormProps) {
  const isMap = parameters[0]?.name.startsWith('<') === true
  const isCode = typeof sample === 'string' || typeof sample === 'number'
  const [codes, setCodes] = useState(showCodes(before) || (isCode ? showCodes({ [sample]: '' }).replace('""', '') : ''))
  const [typed, setTyped] = useState(() =>
    Object.fromEntries(Object.entries(before).map(([one, value]) => [one, showTyped(value)])),
  )
  const [fault, setFault] = useState<string>()
  const use = () => {
    const read = isMap ? readCodes(codes) : pickGiven(parameters, typed)
    setFault(typeof read === 'string' ? read : onUse({ ...(isMap ? {} : before), ...read }))
  }
  const isMissing = isMap
    ? codes.trim() === ''
    : parameters.some((one) => one.isRequired === true && (typed[one.name] ?? '') === '')
  return (
    <fieldset className="form-group" disabled={isLocked}>
      <legend>Parameters of {name}</legend>
      {isMap ? (
        <TextField
          label="Codes"
          rows={6}
          value={codes}
          onChange={setCodes}
          fault={fault}
          hint={`One a line, as "code = value", or pasted from a spreadsheet. ${parameters[0]?.means ?? ''}`}
        />
      ) : (
        parameters.map((one, at) => (
          <TextField
            key={one.name}
            label={one.name}
            value={typed[one.name] ?? ''}
            onChange={(text) => setTyped({ ...typed, [one.name]: text })}
            hint={one.means}
            fault={at === 0 ? fault : undefined}
          />
        ))
      )}
      <Button
        text="Use these parameters"
        refused={isMissing ? 'Fill in the parameters first.' : undefined}
        onPress={use}
      />
    </fieldset>
  )
}

/** An empty field removes its parameter. */
const pickGiven = (parameters: MappingFunctions[number]['parameters'], typed: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    parameters.map(({ name, kind }) => {
      const text = typed[name] ?? ''
      return [name, text === '' ? undefined : kind === 'json' ? readTyped(text) : text]
    }),
  )

function readParameters(text: string | undefined): Parameters | undefined {
  const { parameters } = (text === undefined ? {} : JSON.parse(text)) as { parameters?: Parameters }
  return parameters
}

/** On one line, as people write it. */
function toText(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value)
  const members = Object.entries(value).flatMap(([name, one]) =>
    one === undefined ? [] : [`${JSON.stringify(name)}: ${toText(one)}`],
  )
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}
