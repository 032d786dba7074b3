import Testing

@testable import CisternCore

struct ShownValueTests {
  private typealias Shown = ShownValue<String, Int>

  private func change(_ number: UInt64, _ event: Change<String, Int>.Event) -> Change<String, Int> {
    Change(number: ChangeNumber(number: number), event: event)
  }

  private func current(_ value: Int?, _ number: UInt64) -> Shown.Current { (value, ChangeNumber(number: number)) }

  private let invalidated = Change<String, Int>.Event.invalidated(.tag("t"))

  @Test func `an initial value that was read before an invalidation stays in doubt until the next change`() {
    for (event, values) in [
      (Change<String, Int>.Event.inserted("k", 2), [nil, 2]), (.updated("k", 2), [2]),
      (.removed("k", .explicit), [nil]),
      (.cleared, [nil]),
    ] as [(Change<String, Int>.Event, [Int?])] {
      var shown = Shown()
      #expect(shown.takeEach(change(5, invalidated)) { nil } == [])
      #expect(shown.takeInitial(current(1, 4)) { nil } == [1])
      #expect(shown.takeEach(change(6, event)) { nil } == values)
    }
  }

  @Test func `an initial value that was read before an invalidation is replaced by a present absence`() {
    var shown = Shown()
    #expect(shown.takeEach(change(5, invalidated)) { nil } == [])
    #expect(shown.takeInitial(current(1, 4)) { current(nil, 5) } == [1, nil])
    #expect(shown.takeEach(change(6, .inserted("k", 2))) { nil } == [2])
  }

  @Test func `an initial value that was read after an invalidation needs no look-up`() {
    var shown = Shown()
    #expect(shown.takeEach(change(5, invalidated)) { nil } == [])
    #expect(
      shown.takeInitial(current(1, 5)) {
        Issue.record("the value was looked up")
        return nil
      } == [1])
  }

  @Test func `an initial value resolves the doubt that it caused`() {
    var shown = Shown()
    #expect(shown.takeEach(change(5, .inserted("k", 1))) { nil } == [1])
    #expect(shown.takeEach(change(6, invalidated)) { nil } == [])
    #expect(shown.takeInitial(current(nil, 6)) { current(nil, 6) } == [nil])
    #expect(shown.takeEach(change(7, invalidated)) { current(nil, 7) } == [])
  }

  @Test func `an invalidation of another key shows nothing, also after one in doubt`() {
    var shown = Shown()
    #expect(shown.takeInitial(current(1, 4)) { nil } == [1])
    #expect(shown.takeEach(change(5, invalidated)) { nil } == [])
    #expect(shown.takeEach(change(6, invalidated)) { current(1, 6) } == [])
    #expect(shown.takeEach(change(7, .inserted("k", 2))) { nil } == [2])
  }
}
