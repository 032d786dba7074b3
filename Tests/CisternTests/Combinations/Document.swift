import Cistern

/// A value that shows which writes it contains: each write of a trial adds a unique mark.
struct Document: Hashable, Sendable {
  var marks: Set<Int>

  init(_ marks: Int...) {
    self.marks = Set(marks)
  }

  /// Returns the document with one more mark.
  func adding(_ mark: Int) -> Document {
    var document = self
    document.marks.insert(mark)
    return document
  }

  /// Merges two partial documents into one that contains the marks of both.
  static func union(_ cached: Document, _ incoming: Document) -> Document {
    var document = cached
    document.marks.formUnion(incoming.marks)
    return document
  }
}

extension Document: CustomStringConvertible {
  var description: String { "\(marks.sorted())" }
}

/// A codec that encodes each mark as one byte.
struct DocumentCodec: Codec {
  func encode(_ value: Document) -> [UInt8] { value.marks.sorted().map { UInt8($0) } }

  func decode(_ bytes: [UInt8]) -> Document {
    var document = Document()
    document.marks = Set(bytes.map { Int($0) })
    return document
  }
}
