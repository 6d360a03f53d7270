/** `?`: the keys that work on this page. */
import { Dialog } from '../ui/controls/dialog.tsx'
import { Checkbox } from '../ui/controls/fields.tsx'
import { useBindings, useSingleKeys } from '../ui/keys/keymap.ts'
import { GuideLinks } from '../ui/states/page-help.tsx'

const ALWAYS = [
  { keys: 'Enter', what: 'Open the row that has the focus' },
  { keys: 'Escape', what: 'Close a dialog' },
] as const

const spelt = (keys: string): string => keys.replace('Control', 'Ctrl').replace('Escape', 'Esc').replaceAll('+', ' ')

export function KeyList({ onClose }: Readonly<{ onClose(): void }>) {
  const [singleKeys, setSingleKeys] = useSingleKeys()
  const bindings = useBindings()
  const first = bindings.filter(({ keys }, index) => bindings.findIndex((one) => one.keys === keys) === index)
  return (
    <Dialog title="Keys" onClose={onClose}>
      <GuideLinks />
      <dl className="key-list stack">
        {[...first, ...ALWAYS].map(({ keys, what }) => (
          <div key={keys}>
            <dt>
              <kbd>{spelt(keys)}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <Checkbox text="Single keys, such as j and k" checked={singleKeys} onChange={setSingleKeys} />
    </Dialog>
  )
}
