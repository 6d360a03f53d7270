/** The pairs: recorded messages, and texts that are pasted. */
import { Link } from '@tanstack/react-router'
import { useVocabulary } from '../../api/vocabulary.ts'
import { Button } from '../../ui/controls/button.tsx'
import { SelectField, TextField } from '../../ui/controls/fields.tsx'
import { EMPTY_PAIR, type GivenExamples, pairName } from './given-examples.ts'

const BY_BEGINNING = { value: '', label: 'As it begins (JSON, XML, HL7 v2, CSV)' }

/** The two sides of a pair, as the API names them, with the setting of their format. */
const SIDES = [
  { side: 'message', label: 'Message as sent', type: 'messageType', typeLabel: 'Format of the messages' },
  { side: 'output', label: 'What it becomes', type: 'outputType', typeLabel: 'Format of what they become' },
] as const

export type PairFieldsProps = Readonly<{
  given: GivenExamples
  change(changes: Partial<GivenExamples>): void
  /** What is wrong at a place, such as `Pair 1: message`. */
  faultAt(place: string): string | undefined
}>

export function PairFields({ given, change, faultAt }: PairFieldsProps) {
  const { pairs } = given
  const { data: formats = [] } = useVocabulary((vocabulary) => vocabulary.formats)
  const choices = [BY_BEGINNING, ...formats.map(({ title, mediaType }) => ({ value: mediaType, label: title }))]
  return (
    <>
      <div className="pair-sides">
        {SIDES.map(({ type, typeLabel }) => (
          <SelectField
            key={type}
            label={typeLabel}
            value={given[type]}
            choices={choices}
            onChange={(value) => change({ [type]: value })}
          />
        ))}
      </div>
      {pairs.map((pair, index) => {
        const name = pairName(index)
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a pair is named by its number
          <fieldset key={index} className="pair-sides">
            <legend>{name}</legend>
            {SIDES.map(({ side, label }) => (
              <TextField
                key={side}
                label={label}
                value={pair[side]}
                rows={7}
                fault={faultAt(`${name}: ${side}`)}
                onChange={(text) => change({ pairs: pairs.with(index, { ...pair, [side]: text }) })}
              />
            ))}
            <div>
              <Button tone="quiet" onPress={() => change({ pairs: pairs.toSpliced(index, 1) })}>
                Remove {name.toLowerCase()}
              </Button>
            </div>
          </fieldset>
        )
      })}
      <div>
        <Button text="Add a pair" onPress={() => change({ pairs: [...pairs, EMPTY_PAIR] })} />
      </div>
    </>
  )
}

export type RecordedPairsProps = Readonly<{ ids: readonly string[]; onRemove(id: string): void }>

/** Each is a pair with what the mapping made of it. */
export const RecordedPairs = ({ ids, onRemove }: RecordedPairsProps) => (
  <ul className="row" aria-label="Recorded messages">
    {ids.map((id) => (
      <li key={id}>
        Message{' '}
        <Link to="/messages/$id" params={{ id }}>
          <code>{id}</code>
        </Link>
        <Button text="×" tone="quiet" label={`Leave message ${id} out`} onPress={() => onRemove(id)} />
      </li>
    ))}
  </ul>
)
