/** The samples of the service: each becomes the draft of a new endpoint, with its tests. */
import { useNavigate } from '@tanstack/react-router'
import type { Got } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import { NEW } from '../../draft/draft.ts'
import { keepDraftTests } from '../../draft/kept-drafts.ts'
import { useDraft } from '../../draft/use-draft.ts'
import { Button } from '../../ui/controls/button.tsx'
import { notify } from '../../ui/states/notices.tsx'
import { Answer } from '../../ui/states/states.tsx'

type Sample = Got<'/endpoints/samples'>['samples'][number]

export default function SampleList() {
  const { draft } = useDraft(NEW)
  const who = useMe()?.who ?? ''
  const navigate = useNavigate()
  const open = ({ document, tests, name }: Sample) => {
    draft?.replaceText(document)
    keepDraftTests(NEW, { who, tests: tests as never })
    notify(`The draft is “${name}”. Nothing is stored until you publish it.`)
    void navigate({ to: '/endpoints/new', search: { test: tests[0]?.name } })
  }
  return (
    <Answer of={{ ...queries.samples, staleTime: Number.POSITIVE_INFINITY }}>
      {({ samples }) => (
        <div className="dialog-form">
          {samples.length === 0 && <p>This installation has no samples.</p>}
          {samples.map((sample) => (
            <section key={sample.name} className="form-card">
              <h3>{sample.name}</h3>
              <p className="hint">
                {sample.text} It has {sample.tests.length === 1 ? 'one test' : `${sample.tests.length} tests`}.
              </p>
              <Button text="Use" label={`Use ${sample.name}`} onPress={() => open(sample)} />
            </section>
          ))}
        </div>
      )}
    </Answer>
  )
}
