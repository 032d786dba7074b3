import CisternTesting
import Testing

@testable import CisternCore

/// Drafts that are discarded during their own save, and used again before its end.
struct DiscardsDuringSavesTests {
  /// Actions of another thread, each of which runs once during the next merge of a save.
  private typealias Meanwhile = Recorder<@Sendable () -> Void>

  /// Returns a cache in memory whose merges run the actions.
  private static func mergingSubject(_ meanwhile: Meanwhile, on executor: SeededExecutor) throws -> FieldsSubject {
    let configuration = CacheConfiguration<Fields>(merge: { cached, incoming in
      meanwhile.removeAll().forEach { $0() }
      return try mergeFields(cached, incoming)
    })
    return try FieldsSubject(.memory, on: executor, configuration: configuration)
  }

  @Test(arguments: ["saved", "read"])
  func `a key that is read again after a discard during a save conflicts with a later change`(key: String) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let meanwhile = Meanwhile()
      let subject = try Self.mergingSubject(meanwhile, on: executor)
      let cache = subject.cache
      for key in ["saved", "read"] { cache[key] = ["v": 1] }
      let draft = cache.draft()
      _ = draft["read"]
      draft["saved"] = ["first": 1]
      meanwhile.record {
        draft.discard()
        _ = draft[key]
      }
      try draft.save()
      try #require(meanwhile.count == 0 && draft.isEmpty && cache["saved"] == ["v": 1, "first": 1])
      cache[key] = ["theirs": 1]
      draft[key] = ["mine": 1]
      try #require(draft.conflicts == [key])
      draft.discard()
      try #require(subject.findings == [])
    }
  }

  @Test func `a write after a discard during a save conflicts with a change that the save has replaced`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let meanwhile = Meanwhile()
      let subject = try Self.mergingSubject(meanwhile, on: executor)
      let cache = subject.cache
      cache["a"] = ["v": 1]
      let draft = cache.draft()
      draft["a"] = ["first": 1]
      meanwhile.record {
        draft.discard()
        draft["a"] = ["mine": 1]
        cache["a"] = ["theirs": 1]
      }
      // The policy resolves the conflict of the discarded write alone.
      try draft.save(onConflict: .mine)
      try #require(meanwhile.count == 0 && cache["a"] == ["v": 1, "theirs": 1, "first": 1])
      try #require(draft.writtenKeys == ["a"] && draft.conflicts == ["a"])
      draft.discard()
      try #require(subject.findings == [])
    }
  }

  @Test func `a nested draft that reads after a discard during a save conflicts with the saved value`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let meanwhile = Meanwhile()
      let subject = try Self.mergingSubject(meanwhile, on: executor)
      let cache = subject.cache
      cache["a"] = ["v": 1]
      let outer = cache.draft()
      let (earlier, later) = (outer.draft(), outer.draft())
      // The outer draft keeps its base beyond the discard.
      _ = earlier["a"]
      outer["a"] = ["outer": 1]
      meanwhile.record {
        outer.discard()
        #expect(later["a"] == ["v": 1])
      }
      try outer.save()
      try #require(meanwhile.count == 0 && cache["a"] == ["v": 1, "outer": 1])
      later["a"] = ["later": 1]
      try later.save()
      try #require(outer.conflicts == ["a"])
      for draft in [earlier, later, outer] { draft.discard() }
      try #require(subject.findings == [])
    }
  }

  @Test func `a save does not move the base of a key that was used again after another writer's change`() throws {
    typealias State = DraftState<String, Int>
    func seen(_ changes: UInt32) -> SeenKey<Int> { SeenKey(version: VersionBelow(changes: changes), tags: []) }
    func write(_ value: Int, from keyState: State.KeyState) -> State.ComputedWrite {
      State.ComputedWrite(key: "a", keyState: keyState, write: .store(value, WriteOptions()), shown: value)
    }
    var state = State(layering: .edits)
    _ = state.see("a", seen(0), since: 0)
    let early = write(1, from: state.keyState(of: "a"))
    _ = state.write([early])
    let saved = state.beginComparing()
    // The save has written, which is the first change, and another writer has changed the key since.
    _ = state.empty()
    _ = state.see("a", seen(2), since: 0)
    let late = write(2, from: state.keyState(of: "a"))
    _ = state.write([late])
    let later = state.writes(after: saved).map {
      State.ComputedWrite(key: $0.key, keyState: $0.keyState, write: $0.write, shown: nil)
    }
    let own = SavedKey<Int>(version: VersionBelow(changes: 1), tags: [], isOwn: true)
    let ended = state.endSaving(saved, ["a": own], later: later)
    let end = try #require(ended)
    let left = state.endComparing(saved)
    #expect(end.unseen == [] && left == ["a"])
    #expect(state.batch.keys == ["a"] && state.seenVersion(of: "a") == VersionBelow(changes: 2))
  }

  @Test func `a write of a key that a discard has forgotten is not accepted`() {
    typealias State = DraftState<String, Int>
    var state = State(layering: .edits)
    let write = State.ComputedWrite(
      key: "a", keyState: state.keyState(of: "a"), write: .store(1, WriteOptions()), shown: 1)
    let isWritten = state.write([write]) != nil
    #expect(!isWritten && state.batch.isEmpty)
  }
}
