/** A new key, shown once. */
import { Button } from '../../ui/controls/button.tsx'
import { Dialog } from '../../ui/controls/dialog.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'

export type ShownKeyProps = Readonly<{
  made: Readonly<{ name: string; key: string }>
  /** The page asks for a key from now on. */
  isFirst: boolean
  onClose(): void
}>

export function ShownKey({ made, isFirst, onClose }: ShownKeyProps) {
  const copy = () =>
    navigator.clipboard.writeText(made.key).then(
      () => notify('Key copied.'),
      () => notify('The browser did not allow copying: select the key and copy it.', 'warn'),
    )
  return (
    <Dialog
      title="Copy the key now"
      onClose={onClose}
      isDismissable={false}
      actions={
        <>
          <Button onPress={() => void copy()}>Copy</Button>
          <Button tone="primary" onPress={onClose}>
            I have copied it
          </Button>
        </>
      }
    >
      <p>
        This is the key of “<VisibleText text={made.name} max={100} />
        ”. It is shown this once: the service stores its hash only.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a key that is wider than the dialog scrolls by keys */}
      <pre className="shown-key" tabIndex={0} role="group" aria-label="The key">
        {made.key}
      </pre>
      {isFirst && <p>When you close this, the page asks you to sign in with it.</p>}
    </Dialog>
  )
}
