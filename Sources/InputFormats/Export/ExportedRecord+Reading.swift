import CisternCore
import Foundation

/// A syntax error in a line of an export.
package struct ExportSyntaxError: Error, Equatable, CustomStringConvertible {
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}

extension ExportedRecord {
  private static let members: Set = [
    "key", "keyBase64", "value", "text", "json", "created", "expires", "lastUsed", "grace", "idle", "refreshAhead",
    "cost", "schemaVersion", "tags", "negative", "staleWhileRevalidate", "staleIfError",
  ]

  /// Parses a line.
  ///
  /// - Parameters:
  ///   - line: The line.
  ///   - now: The creation time for a line that does not have one.
  /// - Throws: `ExportSyntaxError` with a message about the first error in the line.
  package init(line: [UInt8], now: WallTime) throws(ExportSyntaxError) {
    let object = try Self.object(line)
    key = try Self.key(in: object)
    let isNegative = try Self.flag("negative", in: object)
    let value = try Self.value(in: object)
    guard (value == nil) == isNegative else {
      throw ExportSyntaxError(
        isNegative
          ? "a negative record has no value" : "the value is missing: use \"value\" in base64, \"text\" or \"json\"")
    }
    bytes = value ?? []
    let limit = UInt64(UInt32.max)
    var metadata = RecordMetadata(
      created: try Self.time("created", in: object) ?? now, expires: try Self.time("expires", in: object),
      cost: UInt32(try Self.number("cost", upTo: limit, in: object) ?? UInt64(max(1, min(bytes.count, Int(limit))))),
      schemaVersion: UInt32(try Self.number("schemaVersion", upTo: limit, in: object) ?? 0),
      tags: try Self.tags(in: object))
    metadata.grace = try Self.number("grace", in: object) ?? 0
    metadata.idle = try Self.number("idle", in: object) ?? 0
    metadata.lastUsed = try Self.time("lastUsed", in: object)
    metadata.refreshAhead = try Self.number("refreshAhead", in: object) ?? 0
    metadata.isNegative = isNegative
    metadata.staleWhileRevalidate = try Self.number("staleWhileRevalidate", in: object)
    metadata.staleIfError = try Self.number("staleIfError", in: object)
    self.metadata = metadata
  }

  private static func object(_ line: [UInt8]) throws(ExportSyntaxError) -> JSONObject {
    let value: JSONValue
    do {
      value = try JSONValue(parsing: line)
    } catch {
      throw ExportSyntaxError("\(error)")
    }
    guard case .object(let object) = value else { throw ExportSyntaxError("expected a JSON object") }
    // Without this check, a member with a misspelled name would be lost silently.
    if let unknown = object.names.first(where: { !members.contains($0) }) {
      throw ExportSyntaxError("\"\(unknown)\" is not a member of a record")
    }
    return object
  }

  private static func key(in object: JSONObject) throws(ExportSyntaxError) -> [UInt8] {
    switch (object["key"], object["keyBase64"]) {
    // The same text must be the same key as in a cache with strings as keys.
    case (.string(let text), nil): return Array(KeyText.composed(text).utf8)
    case (nil, .string(let text)): return try bytes(base64: text, "keyBase64")
    case (nil, nil): throw ExportSyntaxError("the key is missing: expected \"key\" or \"keyBase64\"")
    case (_?, _?): throw ExportSyntaxError("the record has two keys: \"key\" and \"keyBase64\"")
    default: throw ExportSyntaxError("the key is not a string")
    }
  }

  private static func value(in object: JSONObject) throws(ExportSyntaxError) -> [UInt8]? {
    let present = ["value", "text", "json"].filter { object[$0] != nil }
    guard present.count < 2 else {
      throw ExportSyntaxError("the record has two values: \"\(present[0])\" and \"\(present[1])\"")
    }
    switch (present.first, present.first.flatMap { object[$0] }) {
    case ("value", .string(let text)): return try bytes(base64: text, "value")
    case ("text", .string(let text)): return Array(text.utf8)
    case ("json", let value?): return value.text
    case (let name?, _): throw ExportSyntaxError("\"\(name)\" is not a string")
    default: return nil
    }
  }

  private static func bytes(base64 text: String, _ name: String) throws(ExportSyntaxError) -> [UInt8] {
    guard let data = Data(base64Encoded: text) else { throw ExportSyntaxError("\"\(name)\" is not base64") }
    return Array(data)
  }

  private static func time(_ name: String, in object: JSONObject) throws(ExportSyntaxError) -> WallTime? {
    guard let value = object[name] else { return nil }
    guard case .string(let text) = value, let time = TimestampText.parse(text) else {
      if case .string(let text) = value, TimestampText.isOutOfRange(text) {
        throw ExportSyntaxError(
          "\"\(name)\" is out of range: a record has times of the years "
            + "\(TimestampText.years.lowerBound) to \(TimestampText.years.upperBound)")
      }
      throw ExportSyntaxError("\"\(name)\" is not a time such as \"2026-01-31T12:00:00Z\"")
    }
    return time
  }

  private static func number(
    _ name: String, upTo limit: UInt64 = .max, in object: JSONObject
  ) throws(ExportSyntaxError) -> UInt64? {
    guard let value = object[name] else { return nil }
    guard case .number(let text) = value, let number = UInt64(text), number <= limit else {
      throw ExportSyntaxError("\"\(name)\" is not a whole number from 0 to \(limit)")
    }
    return number
  }

  private static func tags(in object: JSONObject) throws(ExportSyntaxError) -> [String] {
    guard let value = object["tags"] else { return [] }
    guard case .array(let elements) = value else { throw ExportSyntaxError("\"tags\" is not a list") }
    var tags: [String] = []
    for element in elements {
      guard case .string(let tag) = element, !tag.isEmpty else {
        throw ExportSyntaxError("\"tags\" has an element that is not a tag: expected strings that are not empty")
      }
      tags.append(tag)
    }
    return tags
  }

  private static func flag(_ name: String, in object: JSONObject) throws(ExportSyntaxError) -> Bool {
    switch object[name] {
    case nil: return false
    case .boolean(let isTrue): return isTrue
    default: throw ExportSyntaxError("\"\(name)\" is neither true nor false")
    }
  }
}
