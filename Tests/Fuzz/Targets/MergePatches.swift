import Cistern

/// Feeds two texts, separated by a zero byte. JSON survives parsing and writing, and is merged as RFC 7396 specifies.
func fuzzMergePatch(_ input: [UInt8]) {
  let parts = input.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false).map(Array.init)
  let texts = [parts[0], parts.count > 1 ? parts[1] : []]
  let values = texts.map { try? JSONValue(parsing: $0) }
  for value in values.compactMap({ $0 }) {
    let text = value.text
    guard let read = try? JSONValue(parsing: text) else { fatalError("broken: written JSON is not readable") }
    require(read == value, "read again, it is another value")
    require(read.text == text, "written again, it is another text")
  }
  guard let cached = values[0], let incoming = values[1] else {
    return require((try? JSONMergePatch.merge(texts[0], texts[1])) == nil, "text that is not JSON was merged")
  }
  let expected = merged(cached, incoming)?.text ?? []
  let value = JSONMergePatch.merge(cached, incoming)
  require(value.text == expected, "\(String(decoding: value.text, as: UTF8.self)) for \(expected)")
  guard let text = try? JSONMergePatch.merge(texts[0], texts[1]), let read = try? JSONValue(parsing: text) else {
    fatalError("broken: JSON was not merged")
  }
  require(read.text == expected, "\(String(decoding: text, as: UTF8.self)) as text differs from the merged values")
  require(JSONMergePatch.merge(value, incoming).text == expected, "merged twice, it is another value")
}

/// The function of RFC 7396, section 2, word for word. Nil stands for undefined.
private func merged(_ target: JSONValue?, _ patch: JSONValue) -> JSONValue? {
  guard case .object(let patch) = patch else { return patch }
  var object = JSONObject()
  if case .object(let present) = target { object = present }
  for name in patch.names {
    guard let value = patch[name] else { fatalError("broken: a name without a member") }
    if case .null = value { object[name] = nil } else { object[name] = merged(object[name], value) }
  }
  return .object(object)
}
