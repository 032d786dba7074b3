import CisternTestSupport
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

struct CommitProgressTests {
  private static let failure = CisternError(.diskFailed, "broken", location: "a test")

  private final class Subject: Sendable {
    let progress = Guarded(CommitProgress())

    /// Starts a task that waits for a write, and returns after the task has begun to wait.
    func wait(_ ticket: CommitTicket, includingEarlier includesEarlier: Bool) async -> Task<CisternError.Code?, Never> {
      let hasCome = Guarded(false)
      let task = Task { () -> CisternError.Code? in
        let error: CisternError? = await withCheckedContinuation { continuation in
          let waiter = CommitProgress.Waiter(
            ticket: ticket, includesEarlier: includesEarlier, continuation: continuation)
          progress.withLock { $0.wait(waiter) }?.resume()
          hasCome.withLock { $0 = true }
        }
        return error?.code
      }
      while !hasCome.withLock({ $0 }) { await Task.yield() }
      return task
    }

    func settle(_ ticket: CommitTicket, failed: ClosedRange<CommitTicket>? = nil) {
      if let failed { note(failed) }
      let ready = progress.withLock { progress in
        progress.settle(through: ticket)
        return progress.makeDurable()
      }
      for one in ready { one.resume() }
    }

    func note(_ failed: ClosedRange<CommitTicket>) {
      let failure = CommitProgress.Failure(tickets: failed, error: CommitProgressTests.failure)
      progress.withLock { $0.note([failure], through: 0, error: nil) }
    }
  }

  @Test func `a flush receives every failure since its call, in any commit group, and no earlier failure`() async {
    let subject = Subject()
    let early = await subject.wait(10, includingEarlier: true)
    subject.settle(7, failed: 3...3)
    // This flush begins after the failure, and before its commit group is settled for all writes.
    let late = await subject.wait(11, includingEarlier: true)
    subject.settle(11)
    #expect(await early.value == .diskFailed)
    #expect(await late.value == nil)
  }

  @Test func `a flush does not receive a failure that was recorded before the flush began`() async {
    let subject = Subject()
    // The write is in a commit group that settles only the numbers up to 10.
    subject.note(12...12)
    let flush = await subject.wait(15, includingEarlier: true)
    subject.settle(10)
    subject.settle(15)
    #expect(await flush.value == nil)
    // A waiter for this single write receives the error, even if it begins to wait late.
    #expect(await subject.wait(12, includingEarlier: false).value == .diskFailed)
    #expect(await subject.wait(13, includingEarlier: false).value == nil)
  }

  @Test func `a failed write-through fails the commits since the last one, and no earlier or later ones`() async {
    let subject = Subject()
    subject.settle(3)
    let waiting = await subject.wait(5, includingEarlier: false)
    let flush = await subject.wait(6, includingEarlier: true)
    subject.progress.withLock { progress in
      progress.settle(through: 6)
      progress.noteNotSynchronized(CommitProgressTests.failure)
    }
    subject.settle(6)
    #expect(await waiting.value == .diskFailed)
    #expect(await flush.value == .diskFailed)
    subject.settle(8)
    for ticket in [CommitTicket(number: 4), 6] {
      #expect(await subject.wait(ticket, includingEarlier: false).value == .diskFailed)
    }
    for ticket in [CommitTicket(number: 3), 7] {
      #expect(await subject.wait(ticket, includingEarlier: false).value == nil)
    }
    // Without such commits, a failure concerns no write.
    subject.progress.withLock { $0.noteNotSynchronized(CommitProgressTests.failure) }
    #expect(await subject.wait(8, includingEarlier: false).value == nil)
  }

  @Test func `every waiter receives the failure of its write, even if very many writes fail at once`() async {
    let subject = Subject()
    let flush = await subject.wait(20_000, includingEarlier: true)
    let first = await subject.wait(1, includingEarlier: false)
    let second = await subject.wait(2, includingEarlier: false)
    // Every other write of the group fails.
    for ticket in stride(from: 1, to: 20_000, by: 2) {
      subject.note(CommitTicket(number: UInt64(ticket))...CommitTicket(number: UInt64(ticket)))
    }
    let late = await subject.wait(3, includingEarlier: false)
    subject.settle(20_000)
    #expect(await first.value == .diskFailed)
    #expect(await second.value == nil)
    #expect(await late.value == .diskFailed)
    #expect(await flush.value == .diskFailed)
  }

  @Test func `a waiter that comes after its group receives the failure of its write, however many writes failed`() async
  {
    let subject = Subject()
    let failures = stride(from: 1, to: 20_000, by: 2).map { number -> CommitProgress.Failure in
      let ticket = CommitTicket(number: UInt64(number))
      return CommitProgress.Failure(tickets: ticket...ticket, error: CommitProgressTests.failure)
    }
    subject.progress.withLock { $0.note(failures, through: 0, error: nil) }
    subject.settle(20_000)
    #expect(await subject.wait(1, includingEarlier: false).value == .diskFailed)
    #expect(await subject.wait(2, includingEarlier: false).value == nil)
    // The failures of later groups displace those of this one.
    for ticket in 20_001...30_000 {
      let ticket = CommitTicket(number: UInt64(ticket))
      subject.settle(ticket, failed: ticket...ticket)
    }
    #expect(await subject.wait(30_000, includingEarlier: false).value == .diskFailed)
    #expect(subject.progress.withLock { $0.failures.count } < 10_000)
  }
}
