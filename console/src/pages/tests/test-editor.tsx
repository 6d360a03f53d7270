/** A test as JSON. The service checks it when it is saved; its faults are shown with their places. */
import { useState } from 'react'
import { ApiFailure, asFailure } from '../../api/api-failure.ts'
import type { StoredTest } from '../../api/run-calls.ts'
import { LazyCodeEditor } from '../../ui/code/lazy-code-editor.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { Dialog } from '../../ui/controls/dialog.tsx'
import { useKey } from '../../ui/keys/keymap.ts'
import { FailureNotice } from '../../ui/states/failure-notice.tsx'

export type TestEditorProps = Readonly<{
  title: string
  test: StoredTest
  /** Fails with an ApiFailure; the text stays then. */
  onSave(test: StoredTest): Promise<void>
  onClose(): void
}>

export function TestEditor({ title, test, onSave, onClose }: TestEditorProps) {
  const [text, setText] = useState(() => JSON.stringify(test, null, 2))
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<ApiFailure>()
  const save = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      await onSave(parseTest(text))
      onClose()
    } catch (thrown) {
      setFailure(asFailure(thrown))
      setBusy(false)
    }
  }
  useKey('Control+s', 'Save the test', () => void save())
  return (
    <Dialog
      title={title}
      size="large"
      onClose={onClose}
      isDismissable={false}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button tone="primary" busy={busy} keys="Control+S" onPress={() => void save()}>
            Save
          </Button>
        </>
      }
    >
      <p className="hint">Bodies are stored unchanged; everyone who may view the endpoint can read them.</p>
      <div className="dialog-editor">
        <LazyCodeEditor label="Test" value={text} onChange={setText} />
      </div>
      {failure === undefined ? null : <FailureNotice failure={failure} />}
    </Dialog>
  )
}

function parseTest(text: string): StoredTest {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (thrown) {
    throw new ApiFailure(`This is not JSON: ${(thrown as SyntaxError).message}`, { status: 400 })
  }
  if (typeof value === 'object' && value !== null && typeof (value as StoredTest).name === 'string')
    return value as StoredTest
  throw new ApiFailure('A test is an object with a name.', { status: 400 })
}
