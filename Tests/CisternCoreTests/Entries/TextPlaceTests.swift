import CisternTesting
import Foundation
import Testing

@testable import CisternCore

/// The storage of string keys in a slot.
struct TextPlaceTests {
  /// A separately allocated place that contains a key.
  @safe
  private final class Kept {
    // This object owns the memory. `place` initializes it, and it is valid for as long as the object lives.
    private let memory = UnsafeMutableRawPointer.allocate(byteCount: TextPlace.byteCount, alignment: 8)
    private var place: TextPlace { unsafe TextPlace(memory) }

    init(_ key: String) {
      unsafe memory.initializeMemory(as: UInt8.self, repeating: 0xA5, count: TextPlace.byteCount)
      place.initialize(to: key)
    }

    deinit {
      place.deinitialize()
      unsafe memory.deallocate()
    }

    var key: String { withExtendedLifetime(self) { place.key } }
    var isInTheSlot: Bool { withExtendedLifetime(self) { place.count != TextPlace.stringMarker } }
    func holds(_ key: String) -> Bool { withExtendedLifetime(self) { place.holds(key) } }
  }

  private static func text(_ count: Int) -> String {
    String(decoding: (0..<count).map { UInt8(33 + $0 % 90) }, as: UTF8.self)
  }

  @Test func `a key of any length is found and read back`() {
    for count in 0...70 {
      let key = Self.text(count)
      let kept = Kept(key)
      #expect(kept.holds(key))
      #expect(kept.key == key)
      #expect(kept.isInTheSlot == (16...39).contains(count))
    }
  }

  @Test func `a key with one byte added, removed or changed is not found`() {
    for count in 0...45 {
      let key = Self.text(count)
      let kept = Kept(key)
      #expect(!kept.holds(key + "!"))
      #expect(!kept.holds("!" + key))
      #expect(count == 0 || !kept.holds(String(key.dropLast())))
      for place in 0..<count {
        var changed = Array(key.utf8)
        changed[place] = 32
        #expect(!kept.holds(String(decoding: changed, as: UTF8.self)), "\(count) bytes, place \(place)")
      }
    }
  }

  @Test(arguments: [
    ("\u{212A}", "K"), ("\u{37E}", ";"), ("a\u{37E}b and some more bytes", "a;b and some more bytes"),
    ("Temperature in \u{212A}", "Temperature in K"),
    ("é", "e\u{301}"),
    ("\u{1FEF}", "`"),
  ])
  func `a key is found by each of its canonically equivalent spellings`(left: String, right: String) {
    for (kept, asked) in [(left, right), (right, left), (left, left), (right, right)] {
      let kept = Kept(kept)
      #expect(kept.holds(asked))
      #expect(kept.holds(NSString(string: asked) as String))
      #expect(!kept.holds(asked + "x"))
      #expect(kept.key == asked)
    }
  }

  @Test func `only ASCII keys are stored inline in the slot`() {
    #expect(Kept("user/1234567890123").isInTheSlot)
    #expect(!Kept("zwölf Boxkämpfer jagen").isInTheSlot)
    #expect(!Kept(String(repeating: "a", count: 38) + "ä").isInTheSlot)
  }

  @Test func `finding a key does not depend on the storage of its string`() {
    let text = "https://example.com/users/42"
    let bridged = NSString(string: text) as String
    let part = String((">" + text + "<").dropFirst().dropLast())
    for kept in [text, bridged, part].map(Kept.init) {
      for asked in [text, bridged, part] { #expect(kept.holds(asked)) }
    }
  }

  @Test func `taking a key returns a string to release only if the key is not stored inline`() {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: TextPlace.byteCount, alignment: 8)
    defer { unsafe memory.deallocate() }
    let place = unsafe KeyPlace<String>(memory)
    place.initialize(to: "here, in the slot")
    #expect(place.take() == nil)
    let long = Self.text(40)
    place.initialize(to: long)
    #expect(place.take() == long)
  }

  /// Compares the whole table with a dictionary.
  @Test func `random operations with strings agree with a dictionary`() {
    for seed in UInt64(0)..<10 {
      var generator = SeededGenerator(seed: seed)
      let keyHash = KeyHash()
      var table = SlotTable<String, Int>()
      var model: [String: Int] = [:]
      let pieces = ["user/1234567890/", "é", "e\u{301}", "https://example.com/", "K", "\u{212A}", "", "0123456789"]
      for step in 0..<1_500 {
        let key = (0..<generator.next(below: 5)).map { _ in pieces[generator.next(below: pieces.count)] }.joined()
        let fingerprint = UInt32(truncatingIfNeeded: keyHash.of(key))
        let found = table.find(key, fingerprint: fingerprint)
        let value: Int? = found.flatMap { table[$0].entry.held?.value }
        if value != model[key] { Issue.record("\(key) has another value") }
        if let found {
          if table.key(of: found) != key { Issue.record("\(key) is stored as another key") }
          if step % 3 == 0 {
            _ = table.remove(found)
            model[key] = nil
          }
        } else {
          if table.isFull { _ = table.rebuild() }
          let held = CachedValue(value: step, timing: .plain(until: .distantFuture), isPersisted: false)
          _ = table.insert(key, fingerprint: fingerprint, entry: .ready(held))
          model[key] = step
        }
        if table.count != model.count { Issue.record("\(table.count) entries, not \(model.count)") }
      }
      for (key, value) in model {
        let number = table.find(key, fingerprint: UInt32(truncatingIfNeeded: keyHash.of(key)))
        #expect(number.flatMap { table[$0].entry.held?.value } == value)
      }
    }
  }
}
