import Cistern

/// A value that shows which writes are in it: each write of a trial adds a mark of its own.
struct Document: Hashable, Sendable {
  var marks: Set<Int>

  init(_ marks: Int...) {
    self.marks = Set(marks)
  }

  /// The same document with one more write in it.
  func adding(_ mark: Int) -> Document {
    var document = self
    document.marks.insert(mark)
    return document
  }

  /// The merge of a cache whose sources each bring a part: everything that either of the two has.
  static func union(_ cached: Document, _ incoming: Document) -> Document {
    var document = cached
    document.marks.formUnion(incoming.marks)
    return document
  }
}

extension Document: CustomStringConvertible {
  var description: String { "\(marks.sorted())" }
}

/// One byte for each mark.
struct DocumentCodec: Codec {
  func encode(_ value: Document) -> [UInt8] { value.marks.sorted().map { UInt8($0) } }

  func decode(_ bytes: [UInt8]) -> Document {
    var document = Document()
    document.marks = Set(bytes.map { Int($0) })
    return document
  }
}
