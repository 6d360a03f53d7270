/** The pairs: recorded messages, and texts that are pasted. */
import { Link } from '@tanstack/react-router'
import { useVocabulary } from '../../api/vocabulary.ts'
import { Button } from '../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../ui/controls/fields.tsx'
import { EMPTY_PAIR, type GivenExamples, pairName, type TypedPair } from './given-examples.ts'

const BY_BEGINNING = { value: '', label: 'As it begins (JSON, XML, HL7 v2)' }

export type PairFieldsProps = Readonly<{
  given: GivenExamples
  change(changes: Partial<GivenExamples>): void
  /** What is wrong with a side of the pair that the page calls so. */
  faultAt(name: string, side: 'message' | 'output'): string | undefined
}>

export function PairFields({ given, change, faultAt }: PairFieldsProps) {
  const { pairs, messageType, outputType } = given
  const { data: formats = [] } = useVocabulary((vocabulary) => vocabulary.formats)
  const choices = [BY_BEGINNING, ...formats.map(({ title, mediaType }) => ({ value: mediaType, label: title }))]
  const set = (index: number, changes: Partial<TypedPair>) =>
    change({ pairs: pairs.map((pair, at) => (at === index ? { ...pair, ...changes } : pair)) })
  return (
    <>
      <div className="field-row">
        <SelectField
          label="Format of the messages"
          value={messageType}
          choices={choices}
          onChange={(type) => change({ messageType: type })}
        />
        <SelectField
          label="Format of what they become"
          value={outputType}
          choices={choices}
          onChange={(type) => change({ outputType: type })}
        />
      </div>
      {pairs.map(({ message, output }, index) => {
        const name = pairName(index)
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a pair is named by its number
          <fieldset key={index} className="field-set">
            <legend>{name}</legend>
            <div className="pair-sides">
              <TextField
                label="Message as sent"
                value={message}
                rows={7}
                fault={faultAt(name, 'message')}
                onChange={(text) => set(index, { message: text })}
              />
              <TextField
                label="What it becomes"
                value={output}
                rows={7}
                fault={faultAt(name, 'output')}
                onChange={(text) => set(index, { output: text })}
              />
            </div>
            {pairs.length > 1 && (
              <div>
                <Button tone="quiet" onPress={() => change({ pairs: pairs.filter((_, at) => at !== index) })}>
                  Remove {name.toLowerCase()}
                </Button>
              </div>
            )}
          </fieldset>
        )
      })}
      <div>
        <Button onPress={() => change({ pairs: [...pairs, EMPTY_PAIR] })}>Add a pair</Button>
      </div>
    </>
  )
}

export type RecordedPairsProps = Readonly<{ ids: readonly string[]; onRemove(id: string): void }>

export function RecordedPairs({ ids, onRemove }: RecordedPairsProps) {
  if (ids.length === 0) return null
  return (
    <section aria-label="Recorded messages">
      <h3>Recorded messages</h3>
      <p className="hint">Each is a pair with what the mapping made of it, and with the answers of its lookups.</p>
      <ul className="rows">
        {ids.map((id) => (
          <li key={id}>
            <Link to="/messages/$id" params={{ id }}>
              <code>{id}</code>
            </Link>{' '}
            <Button tone="quiet" label={`Leave message ${id} out`} onPress={() => onRemove(id)}>
              ×
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}
