"""A request to embed files: all of a run, from its plan to its reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dptext import signatures
from dptext.engine.earlier import Earlier
from dptext.engine.files import JobOutputs, SignedReports, open_internal, plan_jobs
from dptext.engine.identifying import advise_on_vectors
from dptext.engine.job import Job
from dptext.engine.request import Finished, Notices, name_outputs
from dptext.randomness import RunKey
from dptext.report import document
from dptext.streams.outputs import OutputFile, Release
from dptext.vectors import documents, job, release
from dptext.vectors.release import VectorSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRequest:
    """Files to embed into one output, with its settings and one key."""

    job: Job
    settings: VectorSettings
    key: RunKey
    reports: SignedReports
    #: Files that the run reads besides; no output is one of them.
    read: tuple[str, ...] = ()
    #: Looks at the complete vectors before they leave.
    inspect: Callable[[Job, OutputFile], None] | None = None

    def planned(self) -> VectorRequest:
        """Return it with the format of its inputs, if files tell it.

        Raises UsageError for files that clash, or formats that differ.
        """
        (planned,) = plan_jobs(self.job, self.reports, self.read, converts=True)
        return replace(self, job=planned)

    def carry_out(self, notices: Notices) -> Finished:
        """Embed the files; output and reports appear together.

        Raises what `job.run` and `release.prepare` do.
        """
        # The output is no text: it has no encoding.
        plain = replace(self.job.selection, encoding=None)
        with Release() as opened:
            # All is opened before anything is read, the data first: they appear last.
            files = JobOutputs.open(
                replace(self.job, selection=plain),
                self.reports,
                opened,
                held=self.inspect is not None,
            )
            write = open_internal(self.reports, opened)
            ready = release.prepare(self.settings, notices.warn)
            earlier = Earlier(
                ready.settings.plain(), ready.base_digest, self.key, self.reports
            )
            if line := earlier.replaced(self.job):
                notices.announce(line)
            with notices.bar() as progress:
                writer, counts = job.run(
                    job=self.job,
                    ready=ready,
                    key=self.key,
                    output=files.output,
                    aside=files.aside,
                    progress=progress,
                    warn=notices.warn,
                )
            if self.inspect is not None:
                self.inspect(self.job, files.output)
            finished = documents.finished(
                release=ready,
                key=self.key.origin,
                job=self.job,
                counts=counts,
                writer=writer,
                file=files.output,
            )
            report = notices.with_warnings(
                finished, counts.identifying, advise_on_vectors()
            )
            if files.public is not None:
                encoded = document.encode(document.public(report))
                files.public.stream.write(signatures.sign(encoded, self.reports.signer))
            write(report)
            opened.commit()
        return Finished(
            report=report, outputs=name_outputs([self.job], self.reports, ())
        )
