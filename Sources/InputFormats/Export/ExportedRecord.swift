import CisternCore
import Foundation

/// One line of an export: a record as a JSON object.
package struct ExportedRecord: Equatable, Sendable {
  package let key: [UInt8]
  package let metadata: RecordMetadata
  package let bytes: [UInt8]

  package init(key: [UInt8], metadata: RecordMetadata, bytes: [UInt8]) {
    self.key = key
    self.metadata = metadata
    self.bytes = bytes
  }

  /// The form of a value in the line.
  package enum ValueForm: String, CaseIterable, Sendable {
    case base64
    /// As text if the bytes are valid UTF-8. Otherwise, as base64.
    case text
    /// As JSON if the bytes are JSON in the exact form that this program writes, so that an import restores the
    /// same bytes. Otherwise, as `text`.
    case json
  }

  /// Returns the line, without a line feed.
  package func line(_ form: ValueForm) -> [UInt8] {
    var object = JSONObject()
    // An import composes a text. Bytes that it would change are not written as a text.
    if let text = KeyText.composedText(key) {
      object["key"] = .string(text)
    } else {
      object["keyBase64"] = .string(Data(key).base64EncodedString())
    }
    if !metadata.isNegative {
      let (name, value) = value(form)
      object[name] = value
    }
    object["created"] = .string(TimestampText.format(metadata.created))
    object["cost"] = .number("\(metadata.cost)")
    object["expires"] = metadata.expires.map { .string(TimestampText.format($0)) }
    object["lastUsed"] = metadata.lastUsed.map { .string(TimestampText.format($0)) }
    object["grace"] = Self.number(metadata.grace)
    object["staleWhileRevalidate"] = metadata.staleWhileRevalidate.map { .number("\($0)") }
    object["staleIfError"] = metadata.staleIfError.map { .number("\($0)") }
    object["idle"] = Self.number(metadata.idle)
    object["refreshAhead"] = Self.number(metadata.refreshAhead)
    object["schemaVersion"] = Self.number(UInt64(metadata.schemaVersion))
    if !metadata.tags.isEmpty { object["tags"] = .array(metadata.tags.map { .string($0) }) }
    if metadata.isNegative { object["negative"] = .boolean(true) }
    return JSONValue.object(object).text
  }

  private func value(_ form: ValueForm) -> (name: String, JSONValue) {
    if form == .json, let value = try? JSONValue(parsing: bytes), value.text == bytes { return ("json", value) }
    if form != .base64, let text = String(validating: bytes, as: UTF8.self) { return ("text", .string(text)) }
    return ("value", .string(Data(bytes).base64EncodedString()))
  }

  /// Returns nil for zero, so that the member is left out.
  private static func number(_ number: UInt64) -> JSONValue? { number == 0 ? nil : .number("\(number)") }
}
