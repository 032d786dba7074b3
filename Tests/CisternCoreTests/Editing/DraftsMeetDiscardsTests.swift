import CisternTesting
import Testing

@testable import CisternCore

/// Drafts that are discarded or saved while another operation of theirs is in progress.
struct DraftsMeetDiscardsTests {
  /// Actions of another thread, each of which runs once at the next point of an operation.
  private typealias Meanwhile = Recorder<@Sendable () -> Void>

  private static func run(_ meanwhile: Meanwhile) { meanwhile.removeAll().forEach { $0() } }

  @Test(arguments: [false, true])
  func `a write that begins before a discard or a save, and ends after it, conflicts with a later change`(
    isSaved: Bool
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(.twoTiers, on: executor, configuration: CacheConfiguration(isEqual: ==))
      let (cache, meanwhile) = (subject.cache, Meanwhile())
      cache["a"] = ["v": 1]
      cache.trim(toCost: 0)
      let draft = cache.draft()
      meanwhile.record {
        if isSaved { #expect(throws: Never.self) { try draft.save() } } else { draft.discard() }
      }
      subject.tier?.setAfterLoad { _ in
        // The write has begun to watch the key, and reads the value below.
        if draft.state.withLock({ $0.hasSeen("a") }) { Self.run(meanwhile) }
      }
      draft["a"] = ["mine": 1]
      subject.tier?.setAfterLoad(nil)
      try #require(meanwhile.count == 0 && draft.writtenKeys == ["a"] && draft.conflicts == [])
      cache["a"] = ["theirs": 1]
      try #require(draft.conflicts == ["a"])
      draft.discard()
      try #require(subject.findings == [])
    }
  }
}
