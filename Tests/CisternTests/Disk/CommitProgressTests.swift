import Locking
import Testing

@testable import Cistern

struct CommitProgressTests {
  private static let failure = CisternError(.diskFailed, "broken", location: "a test")

  private final class Subject: Sendable {
    let progress = Guarded(CommitProgress())

    /// Waits in a task of its own, which has come to wait when this returns.
    func wait(_ number: UInt64, countsEarlier: Bool) async -> Task<CisternError.Code?, Never> {
      let hasCome = Guarded(false)
      let task = Task { () -> CisternError.Code? in
        let error: CisternError? = await withCheckedContinuation { continuation in
          let waiter = CommitProgress.Waiter(number: number, countsEarlier: countsEarlier, continuation: continuation)
          progress.withLock { $0.wait(waiter) }?.resume()
          hasCome.withLock { $0 = true }
        }
        return error?.code
      }
      while !hasCome.withLock({ $0 }) { await Task.yield() }
      return task
    }

    func settle(_ number: UInt64, failed: ClosedRange<UInt64>? = nil) {
      if let failed { note(failed) }
      let ready = progress.withLock { progress in
        progress.settle(through: number)
        return progress.makeDurable()
      }
      for one in ready { one.resume() }
    }

    func note(_ failed: ClosedRange<UInt64>) {
      let failure = CommitProgress.Failure(numbers: failed, error: CommitProgressTests.failure)
      progress.withLock { $0.note([failure], through: 0, error: nil) }
    }
  }

  @Test func `a flush hears of every failure since it was asked, in whichever round, and of none before`() async {
    let subject = Subject()
    let early = await subject.wait(10, countsEarlier: true)
    subject.settle(7, failed: 3...3)
    // Asked after the failure, before the round that it was in is over for all.
    let late = await subject.wait(11, countsEarlier: true)
    subject.settle(11)
    #expect(await early.value == .diskFailed)
    #expect(await late.value == nil)
  }

  @Test func `a write that failed ahead of its round is no news to a flush that comes after it`() async {
    let subject = Subject()
    // Taken with a round that answers for those up to 10 only.
    subject.note(12...12)
    let flush = await subject.wait(15, countsEarlier: true)
    subject.settle(10)
    subject.settle(15)
    #expect(await flush.value == nil)
    // Who waits for that very write is told, however late.
    #expect(await subject.wait(12, countsEarlier: false).value == .diskFailed)
    #expect(await subject.wait(13, countsEarlier: false).value == nil)
  }
}
