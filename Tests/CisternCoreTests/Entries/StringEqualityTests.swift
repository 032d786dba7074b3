import Foundation
import Testing

@testable import CisternCore

/// The equality of string keys that are not stored inline in the slot.
struct StringEqualityTests {
  private func areEqualKeys(_ left: String, _ right: String) -> Bool {
    let areEqual = areEqualStrings(left, right)
    #expect(areEqual || !haveSameWords(left, right))
    return areEqual
  }

  @Test(arguments: [
    ("", ""), ("a", "a"), ("fifteen bytes..", "fifteen bytes.."), ("sixteen bytes...", "sixteen bytes..."),
    ("https://example.com/users/42", "https://example.com/users/42"), ("é", "e\u{301}"), ("\u{212A}", "K"),
    ("한글 und mehr als fünfzehn", "\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF} und mehr als fu\u{308}nfzehn"),
  ])
  func `equal strings compare as equal, regardless of normalization and storage`(left: String, right: String) {
    let bridged = NSString(string: right) as String
    let part = String((">" + right + "<").dropFirst().dropLast())
    for right in [right, bridged, part] {
      #expect(areEqualKeys(left, right))
      #expect(areEqualKeys(right, left))
      #expect(!areEqualKeys(left + "!", right))
      #expect(!areEqualKeys("!" + left, right))
    }
  }

  @Test func `strings that differ in one byte or in length are not equal`() {
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
}
