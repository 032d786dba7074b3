import Cistern

/// The keys of a run, numbered from 0: their names, where their bodies come from, and how large those are.
struct KeySpace: Sendable {
  /// Where the bodies come from.
  enum Bodies: Sendable, Equatable {
    /// Files below this folder; key `k` is file `k % files.count`.
    case files(folder: String, paths: [String])
    /// Made up, of each key's size.
    case synthetic
  }

  let names: [String]
  let bodies: Bodies
  /// The size of each key's body, without the stamp. As many as there are names.
  let sizes: [Int]

  var count: Int { names.count }

  /// What all values together take up, stamps included.
  var footprint: Int { sizes.reduce(0, +) + sizes.count * Stamp.size }

  /// The file that key `key` is made from; nil where bodies are synthetic.
  func path(of key: Int) -> String? {
    guard case .files(let folder, let paths) = bodies else { return nil }
    return folder + "/" + paths[key % paths.count]
  }

  /// The first part of the key's name, down to and including its first slash: no other part begins with it. Nil where the
  /// name has no slash, for the whole of it may be how the name of an unrelated key begins.
  func prefix(of key: Int) -> String? {
    let name = names[key]
    return name.firstIndex(of: "/").map { String(name[...$0]) }
  }
}

extension KeySpace {
  /// The files of a folder, once each or as often as it takes to have `count` keys.
  init(folder: String, files: [FolderScan.File], count: Int) {
    let paths = files.map(\.path)
    names = (0..<count).map { key in
      let round = key / paths.count
      return paths[key % paths.count] + (round == 0 ? "" : "?copy=\(round)")
    }
    sizes = (0..<count).map { files[$0 % files.count].size }
    bodies = .files(folder: folder, paths: paths)
  }

  /// Made-up bodies, all of one size.
  init(count: Int, valueSize: Int) {
    names = (0..<count).map { "group\($0 % 16)/key\($0)" }
    sizes = Array(repeating: max(0, valueSize - Stamp.size), count: count)
    bodies = .synthetic
  }

  /// The largest value that is made up.
  static let largestValue = ByteCount.gibibytes(1)

  /// The keys of a trace, with the sizes that it gives them. Throws where it has one that nobody could make up.
  init(trace: Trace, valueSize: Int?) throws {
    if valueSize == nil, let largest = trace.sizes.compactMap(\.self).max(), largest > Self.largestValue.bytes {
      throw CommandFailure(
        "the trace has an object of \(ByteCount.bytes(largest)), and values are \(Self.largestValue) at most; "
          + "--value-size makes all alike", status: .badInput)
    }
    names = trace.keys
    sizes = trace.sizes.map { max(0, (valueSize ?? $0 ?? 4_096) - Stamp.size) }
    bodies = .synthetic
  }
}
