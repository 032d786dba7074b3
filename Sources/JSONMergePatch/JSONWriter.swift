/// Writes JSON without white space. Equal values always have the same text.
struct JSONWriter {
  private(set) var text: [UInt8] = []

  mutating func write(_ value: JSONValue) {
    switch value {
    case .null: text += "null".utf8
    case .boolean(let isTrue): text += (isTrue ? "true" : "false").utf8
    case .number(let digits): text += digits.utf8
    case .string(let string): write(string: string.utf8)
    case .array(let elements):
      writeList("[", elements, "]") { writer, element in writer.write(element) }
    case .object(let object):
      writeList("{", object.sortedMembers, "}") { writer, member in
        writer.write(string: member.name)
        writer.text.append(UInt8(ascii: ":"))
        writer.write(member.value)
      }
    }
  }

  private mutating func writeList<Element>(
    _ opening: Unicode.Scalar, _ elements: [Element], _ closing: Unicode.Scalar,
    _ write: (inout JSONWriter, Element) -> Void
  ) {
    text.append(UInt8(ascii: opening))
    for (index, element) in elements.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      write(&self, element)
    }
    text.append(UInt8(ascii: closing))
  }

  private mutating func write(string bytes: some Sequence<UInt8>) {
    text.append(UInt8(ascii: "\""))
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
      case 0..<0x20:
        let digits = String(byte, radix: 16)
        text += "\\u00\(byte < 0x10 ? "0" : "")\(digits)".utf8
      default: text.append(byte)
      }
    }
    text.append(UInt8(ascii: "\""))
  }
}
