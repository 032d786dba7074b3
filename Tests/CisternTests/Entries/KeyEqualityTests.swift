import Foundation
import Testing

@testable import Cistern

/// Which keys a look-up takes for the same.
struct KeyEqualityTests {
  @Test(arguments: [
    ("", ""), ("a", "a"), ("fifteen bytes..", "fifteen bytes.."), ("sixteen bytes...", "sixteen bytes..."),
    ("https://example.com/users/42", "https://example.com/users/42"), ("é", "e\u{301}"), ("\u{212A}", "K"),
    ("한글 und mehr als fünfzehn", "\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF} und mehr als fu\u{308}nfzehn"),
  ])
  func `strings are equal however they are written and held`(left: String, right: String) {
    let bridged = NSString(string: right) as String
    let part = String((">" + right + "<").dropFirst().dropLast())
    for right in [right, bridged, part] {
      #expect(areEqualKeys(left, right))
      #expect(areEqualKeys(right, left))
      #expect(!areEqualKeys(left + "!", right))
      #expect(!areEqualKeys("!" + left, right))
    }
  }

  @Test func `one byte or none makes strings others`() {
    for count in 1...40 {
      let bytes = (0..<count).map { UInt8(97 + $0 % 26) }
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(!areEqualKeys(text, String(text.dropLast())))
      for place in bytes.indices {
        var changed = bytes
        changed[place] = 33
        #expect(!areEqualKeys(text, String(decoding: changed, as: UTF8.self)), "\(count) bytes, place \(place)")
      }
    }
  }

  @Test func `other keys are compared by their own equality`() {
    struct Folded: Hashable {
      let text: String
      static func == (left: Folded, right: Folded) -> Bool { left.text.lowercased() == right.text.lowercased() }
      func hash(into hasher: inout Hasher) { hasher.combine(text.lowercased()) }
    }
    #expect(areEqualKeys(Folded(text: "A"), Folded(text: "a")))
    #expect(areEqualKeys(7, 7))
    #expect(!areEqualKeys([UInt8(7)], [7, 0]))
  }
}
