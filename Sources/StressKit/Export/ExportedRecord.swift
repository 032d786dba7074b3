import Cistern
import Foundation

/// One line of an export: a record as a JSON object.
struct ExportedRecord: Equatable, Sendable {
  let key: [UInt8]
  let metadata: RecordMetadata
  let bytes: [UInt8]

  /// How values are written.
  enum ValueForm: String, CaseIterable, Sendable {
    case base64
    /// As text where they are UTF-8.
    case text
    /// As JSON where they are, and are written as this program writes it, so that the bytes come back as they were; else
    /// as text where they are UTF-8.
    case json
  }

  /// The line, without its end.
  func line(_ form: ValueForm) -> [UInt8] {
    var object = JSONObject()
    if let text = String(validating: key, as: UTF8.self) {
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

  /// What is zero is left out.
  private static func number(_ number: UInt64) -> JSONValue? { number == 0 ? nil : .number("\(number)") }
}
