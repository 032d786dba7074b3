import Cistern
import CisternTesting
import Testing

struct ContentsHistoryTests {
  private typealias Update = ContentUpdate<String, UInt64>

  private func changed(_ event: Change<String, UInt64>.Event, from previous: PreviousValue<UInt64>) -> Update {
    .changed(Change(number: ChangeNumber(number: 1), event: event, previous: previous))
  }

  /// Returns the contradictions of a sequence.
  private func contradictions(_ updates: Update...) -> [String] {
    var history = ContentsHistory<String, UInt64>()
    return updates.compactMap { history.take($0)?.description }
  }

  @Test func `changes after the initial entries continue from them`() {
    var history = ContentsHistory<String, UInt64>()
    let updates: [Update] = [
      .initial("a", 1), changed(.inserted("b", 2), from: .none), .initialEnded,
      changed(.updated("a", 3), from: .value(1)),
      changed(.removed("b", .explicit), from: .value(2)), changed(.inserted("b", 4), from: .none),
      changed(.updated("b", 5), from: .unknown),
    ]
    #expect(updates.compactMap { history.take($0)?.description } == [])
    #expect(history.contents == ["a": 3, "b": 5])
    #expect(history.judgeRest(["a": 3, "b": 5]) == nil)
    #expect(history.judgeRest(["a": 3]) == "b is absent, but the contents have 5")
    #expect(history.judgeRest(["a": 3, "b": 5, "c": 6]) == "c is 6, but the contents have nothing")
  }

  @Test func `a gap lies between two different values`() {
    #expect(
      contradictions(.initial("a", 1), .initialEnded, changed(.updated("a", 3), from: .value(2)))
        == ["a was 1, and changed from 2"])
    #expect(
      contradictions(.initialEnded, changed(.updated("a", 3), from: .value(2))) == ["a was absent, and changed from 2"])
    #expect(
      contradictions(.initial("a", 1), .initialEnded, changed(.inserted("a", 3), from: .none))
        == ["a was 1, and changed from nothing"])
  }

  @Test func `the value before a change of an absent key may have expired`() {
    var history = ContentsHistory<String, UInt64>()
    for update in [Update.initial("a", 1), .initialEnded] { _ = history.take(update) }
    let ofAbsent = history.take(changed(.updated("b", 3), from: .value(2)))
    #expect(ofAbsent?.mayBeOfExpired == true)
    let ofPresent = history.take(changed(.updated("a", 3), from: .value(2)))
    #expect(ofPresent?.mayBeOfExpired == false)
  }

  @Test func `an initial entry comes once, and before the end of the initial entries`() {
    #expect(contradictions(.initial("a", 1), .initial("a", 2)) == ["a was 1, and is an initial entry"])
    #expect(
      contradictions(.initialEnded, .initial("a", 2)) == ["a is an initial entry after the end of the initial entries"])
    #expect(contradictions(.initialEnded, .initialEnded) == ["the initial entries ended twice"])
    #expect(
      contradictions(.initial("a", 1), .initialEnded, .restarted(cause: nil), .initial("a", 1), .initialEnded) == [])
  }

  @Test func `contents without an end of the initial entries are not at rest`() {
    #expect(ContentsHistory<String, UInt64>().judgeRest([:]) == "the initial entries have not ended")
  }
}
