import JSONMergePatch
import CisternTesting
import Foundation
import Testing

struct JSONMergePatchTests {
  /// The examples of RFC 7396, appendix A: original, patch, result.
  static let examples = [
    (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
    (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
    (#"{"a":"b"}"#, #"{"a":null}"#, #"{}"#),
    (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
    (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
    (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
    (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
    (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
    (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
    (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#),
    (#"{"a":"foo"}"#, #"null"#, #"null"#),
    (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
    (#"{"e":null}"#, #"{"a":1}"#, #"{"a":1,"e":null}"#),
    (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
    (#"{}"#, #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
  ]

  @Test(arguments: examples)
  func `every example of RFC 7396 gives its result, as string, bytes and data`(
    original: String, patch: String, result: String
  ) throws {
    #expect(try JSONMergePatch.merge(original, patch) == result)
    #expect(try JSONMergePatch.merge(Array(original.utf8), Array(patch.utf8)) == Array(result.utf8))
    #expect(try JSONMergePatch.merge(Data(original.utf8), Data(patch.utf8)) == Data(result.utf8))
  }

  @Test func `the longer example of RFC 7396, section 3, gives its result`() throws {
    let original = """
      {"title": "Goodbye!", "author": {"givenName": "John", "familyName": "Doe"},
       "tags": ["example", "sample"], "content": "This will be unchanged"}
      """
    let patch = #"{"title":"Hello!","phoneNumber":"+01-123-456-7890","author":{"familyName":null},"tags":["example"]}"#
    let result = """
      {"author":{"givenName":"John"},"content":"This will be unchanged","phoneNumber":"+01-123-456-7890",\
      "tags":["example"],"title":"Hello!"}
      """
    #expect(try JSONMergePatch.merge(original, patch) == result)
  }

  @Test func `a patch that only changes the Unicode form of a letter changes the text`() throws {
    let (whole, decomposed) = ("{\"a\":\"\u{e9}\"}", "{\"a\":\"e\u{301}\"}")
    #expect(Array(try JSONMergePatch.merge(whole, decomposed).utf8) == Array(decomposed.utf8))
    let values = try [whole, decomposed].map { try JSONValue(parsing: Array($0.utf8)) }
    #expect(values[0] != values[1])
    #expect(Set(values + values).count == 2)
  }

  @Test func `a text that a patch does not change is returned as it is`() throws {
    let text = "{ \"b\" : 1.50,\n \"a\" : [ ] }"
    #expect(try JSONMergePatch.merge(text, #"{"b":1.50}"#) == text)
    #expect(try JSONMergePatch.merge(text, #"{"c":null}"#) == text)
  }

  @Test func `numbers keep their digits, and names that differ in code points stay apart`() throws {
    let large = #"{"n":123456789012345678901234567890.000100}"#
    #expect(try JSONMergePatch.merge(large, #"{"a":-0}"#) == #"{"a":-0,"n":123456789012345678901234567890.000100}"#)
    let merged = try JSONMergePatch.merge("{\"\u{E9}\":1}", "{\"e\u{301}\":2}")
    #expect(
      try JSONValue(parsing: Array(merged.utf8)) == JSONValue(parsing: Array("{\"e\\u0301\":2,\"\\u00e9\":1}".utf8)))
    #expect(merged.unicodeScalars.count == "{\"e\u{301}\":2,\"\u{E9}\":1}".unicodeScalars.count)
  }

  @Test(arguments: [
    "", " ", "{", "[1,]", "{\"a\"}", "{\"a\":}", "{a:1}", "nul", "01", "1.", "1e", "-", "+1", ".5", "\"", "\"\\x\"",
    "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"a\nb\"", "1 2", "[1}", "{\"a\":1,}",
    "\u{FEFF}1",
  ])
  func `text that is not JSON is refused`(text: String) {
    #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: Array(text.utf8)) }
    #expect(throws: JSONSyntaxError.self) { try JSONMergePatch.merge("{}", text) }
  }

  @Test func `bytes that are not UTF-8 and endless nesting are refused`() {
    #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: [0x22, 0xFF, 0x22]) }
    #expect(throws: JSONSyntaxError.self) {
      try JSONValue(parsing: Array(repeating: UInt8(ascii: "["), count: 1_000_000))
    }
  }

  @Test func `escapes decode as in Foundation, and written text reads back as the same value`() throws {
    let text = #"["\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\u0000",true,false,null,{"":[{}]},-1.5E+3]"#
    let value = try JSONValue(parsing: Array(text.utf8))
    #expect(try JSONValue(parsing: value.text) == value)
    let ours = try JSONSerialization.jsonObject(with: Data(value.text)) as? NSArray
    let theirs = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSArray
    #expect(ours != nil && ours == theirs)
  }

  @Test func `random values survive writing, reading, and merging with themselves`() throws {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<300 {
      let value = Self.random(&generator, depth: 4)
      #expect(try JSONValue(parsing: value.text) == value)
      #expect(JSONMergePatch.merge(value, Self.withoutNulls(value)) == value)
    }
  }

  private static func withoutNulls(_ value: JSONValue) -> JSONValue {
    guard case .object(let object) = value else { return value }
    var result = object
    for name in object.names {
      result[name] = object[name] == .null ? nil : object[name].map(withoutNulls)
    }
    return .object(result)
  }

  private static func random(_ generator: inout SeededGenerator, depth: Int) -> JSONValue {
    switch generator.next(below: depth == 0 ? 4 : 6) {
    case 0: return .null
    case 1: return .boolean(generator.next(below: 2) == 0)
    case 2: return .number(String(generator.next(below: 1000)))
    case 3:
      return .string(
        String((0..<generator.next(below: 5)).map { _ in "a\"\\\n\u{1F600}é".randomElement(using: &generator)! }))
    case 4: return .array((0..<generator.next(below: 4)).map { _ in random(&generator, depth: depth - 1) })
    default:
      var object = JSONObject()
      for _ in 0..<generator.next(below: 5) {
        object[String(generator.next(below: 6))] = random(&generator, depth: depth - 1)
      }
      return .object(object)
    }
  }
}
