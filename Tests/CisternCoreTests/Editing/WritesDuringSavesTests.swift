import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Writes of a draft during its save, in a cache whose merge appends. A value that is merged twice is visible.
struct WritesDuringSavesTests {
  private let duringMerge = Recorder<@Sendable () -> Void>()
  private let cache: Cache<String, [Int]>

  init() throws {
    cache = try Cache(
      settings: CacheConfiguration(merge: { [duringMerge] cached, incoming in
        duringMerge.removeAll().forEach { $0() }
        return cached + incoming
      }), configuration: .ignoringMemoryPressure)
    cache["a"] = [0]
    cache["b"] = [0]
  }

  @Test(arguments: [1, 2], [1, 2])
  func `values that are set during a save are saved once, and without the saved ones`(earlier: Int, later: Int) throws {
    let draft = cache.draft()
    for number in 1...earlier { draft["a"] = [number] }
    duringMerge.record { for number in 1...later { draft["a"] = [10 * number] } }
    try draft.save()
    let (saved, added) = ([0] + (1...earlier), (1...later).map { 10 * $0 })
    #expect(cache["a"] == saved && draft["a"] == added && draft.writtenKeys == ["a"])
    try draft.save()
    #expect(cache["a"] == saved + added && draft.isEmpty)
  }

  @Test func `a removal during a save replaces the saved value`() throws {
    let draft = cache.draft()
    draft["a"] = [1]
    duringMerge.record {
      draft["a"] = nil
      draft["a"] = [2]
    }
    try draft.save()
    #expect(cache["a"] == [0, 1] && draft["a"] == [2])
    try draft.save()
    #expect(cache["a"] == [2] && draft.isEmpty)
  }

  @Test func `a value that is set during the save of a removal is merged with a later value`() throws {
    let draft = cache.draft()
    draft["a"] = nil
    draft["b"] = [1]
    duringMerge.record { draft["a"] = [2] }
    try draft.save()
    #expect(cache["a"] == nil && cache["b"] == [0, 1] && draft["a"] == [2])
    cache["a"] = [9]
    try draft.save(onConflict: .mine)
    #expect(cache["a"] == [9, 2] && draft.isEmpty)
  }

  @Test(arguments: [1, 2])
  func `values that are set after a discard during a save are all saved`(count: Int) throws {
    let draft = cache.draft()
    draft["a"] = [1]
    duringMerge.record {
      draft.discard()
      for number in 2..<2 + count { draft["a"] = [number] }
    }
    try draft.save()
    #expect(cache["a"] == [0, 1] && draft["a"] == Array(2..<2 + count))
    try draft.save(onConflict: .mine)
    #expect(cache["a"] == Array(0..<2 + count) && draft.isEmpty)
  }

  @Test func `a nested draft detects that a policy dropped a part of the value that it read during the save`() throws {
    let draft = cache.draft()
    let nested = draft.draft()
    draft["a"] = [1]
    draft["b"] = [1]
    cache["a"] = [9]
    duringMerge.record {
      draft["a"] = [2]
      #expect(nested["a"] == [1, 2])
    }
    try draft.save(onConflict: .theirs)
    #expect(cache["a"] == [0, 9] && draft["a"] == [2])
    nested["a"] = [3]
    #expect(nested.conflicts == ["a"])
    try nested.save(onConflict: .theirs)
    try draft.save()
    #expect(cache["a"] == [0, 9, 2])
  }

  @Test func `a value that was computed before the end of a save is not added after it`() throws {
    typealias State = DraftState<String, [Int]>
    func write(_ value: [Int], _ shown: [Int], to state: State) -> State.ComputedWrite {
      State.ComputedWrite(
        key: "a", keyState: state.keyState(of: "a"), write: .store(value, WriteOptions()), shown: shown)
    }
    var state = State(layering: .merges)
    _ = state.see("a", SeenKey(version: VersionBelow(changes: 0), tags: []), since: 0)
    #expect(state.write([write([1], [1], to: state)]) != nil)
    let saved = state.beginComparing()
    #expect(state.write([write([2], [1, 2], to: state)]) != nil)
    // Computed from the values 1 and 2.
    let late = write([3], [1, 2, 3], to: state)
    let later = state.writes(after: saved).map {
      State.ComputedWrite(key: $0.key, keyState: $0.keyState, write: $0.write, shown: [2])
    }
    let own = SavedKey<[Int]>(version: VersionBelow(changes: 1), tags: [], isOwn: true)
    let ended = state.endSaving(saved, ["a": own], later: later)
    #expect(ended != nil && state.ownReading(of: "a")?.value == [2])
    #expect(state.write([late]) == nil)
    #expect(state.write([write([3], [2, 3], to: state)]) != nil)
    #expect(state.ownReading(of: "a")?.value == [2, 3])
  }

  @Test func `a value without tags that is set during a save keeps the tags below`() throws {
    let draft = cache.draft()
    draft.setValue([1], forKey: "a", tags: ["saved"])
    duringMerge.record { draft["a"] = [2] }
    try draft.save()
    cache.setValue([3], forKey: "a", tags: ["theirs"])
    try draft.save(onConflict: .mine)
    #expect(cache["a"] == [0, 1, 3, 2])
    cache.removeAll(tagged: "theirs")
    #expect(cache["a"] == nil)
  }

  @Test func `a nested draft that is saved during the save of its parent adds its values only`() throws {
    let draft = cache.draft()
    let nested = draft.draft()
    draft["a"] = [1]
    nested["a"] = [2]
    duringMerge.record { #expect(throws: Never.self) { try nested.save() } }
    try draft.save()
    #expect(cache["a"] == [0, 1] && draft["a"] == [2])
    try draft.save()
    #expect(cache["a"] == [0, 1, 2] && draft.isEmpty)
  }

  @Test func `a removal by tag at the end of a save is a conflict of a value that is set during it`() throws {
    let draft = cache.draft()
    draft.setValue([1], forKey: "a", tags: ["tag"])
    duringMerge.record {
      draft["a"] = [2]
      draft["a"] = [3]
      // The end of the save merges these two values.
      duringMerge.record { cache.removeAll(tagged: "tag") }
    }
    try draft.save()
    #expect(cache["a"] == nil && draft.conflicts == ["a"])
    draft.discard()
    #expect(cache.checkInvariants() == [] && cache.watchFindings == [])
  }
}
