/// A compressed trie of byte prefixes with a number each. Finds the greatest number among the prefixes of a key.
/// Pure.
///
/// A look-up visits one node for each stored prefix of the key and for each branch between them. The cost depends on
/// the length of the key, not on the number of prefixes.
@usableFromInline
package struct PrefixTree: Sendable {
  private struct Node: Sendable {
    /// The bytes between the parent and this node. Empty only for the root.
    var label: [UInt8]
    /// The number of the prefix that ends here; zero if no prefix ends here.
    var number: UInt64 = 0
    var childCount = 0
  }

  /// The edge from a node to the child whose label begins with a byte.
  private struct Edge: Hashable {
    let parent: Int
    let byte: UInt8
  }

  private var nodes = [Node(label: [])]
  private var children: [Edge: Int] = [:]
  /// The indices of the unused elements of `nodes`.
  private var unused: [Int] = []
  /// The number of prefixes.
  @usableFromInline private(set) var count = 0
  /// An upper bound of the numbers of all prefixes; zero if the tree is empty.
  @usableFromInline private(set) var newest: UInt64 = 0

  @usableFromInline
  package init() {}

  var isEmpty: Bool { count == 0 }

  /// The number of nodes, including the root. For tests.
  var nodeCount: Int { nodes.count - unused.count }

  /// Adds a prefix, or raises its number. Does nothing if the number is zero.
  @usableFromInline
  package mutating func insert(_ prefix: [UInt8], number: UInt64) {
    guard number > 0 else { return }
    let node = makePath(to: prefix)
    if nodes[node].number == 0 { count += 1 }
    nodes[node].number = max(nodes[node].number, number)
    newest = max(newest, number)
  }

  /// Removes a prefix. Does nothing if it was not added.
  @usableFromInline
  package mutating func remove(_ prefix: [UInt8]) {
    guard let path = path(to: prefix), let node = path.last, nodes[node].number > 0 else { return }
    nodes[node].number = 0
    count -= 1
    if isEmpty { self = PrefixTree() } else { prune(path) }
  }

  /// Returns the greatest number among the prefixes of a key; zero if the tree contains no prefix of it.
  @usableFromInline
  package func newestNumber(ofPrefixesOf key: RawSpan) -> UInt64 { match(key).number }

  /// Returns the result of ``newestNumber(ofPrefixesOf:)``, with the number of nodes that the look-up visited.
  func match(_ key: RawSpan) -> (number: UInt64, steps: Int) {
    var (number, steps) = (nodes[0].number, 1)
    var (node, offset) = (0, 0)
    while offset < key.byteCount, let child = children[Edge(parent: node, byte: key.byte(at: offset))] {
      steps += 1
      let label = nodes[child].label
      guard label.count <= key.byteCount - offset,
        key.extracting(offset..<offset + label.count).hasSameBytes(as: label.rawSpan)
      else { break }
      number = max(number, nodes[child].number)
      offset += label.count
      node = child
    }
    return (number, steps)
  }

  // MARK: Nodes

  /// Returns the node at which the prefix ends. Creates the node if needed, and divides a label that contains the
  /// end.
  private mutating func makePath(to prefix: [UInt8]) -> Int {
    var (node, offset) = (0, 0)
    while offset < prefix.count {
      let edge = Edge(parent: node, byte: prefix[offset])
      guard let child = children[edge] else {
        return makeNode(label: Array(prefix[offset...]), at: edge)
      }
      let common = commonLength(nodes[child].label, prefix[offset...])
      node = common < nodes[child].label.count ? divide(child, at: common, edge) : child
      offset += common
    }
    return node
  }

  /// Creates a node above `child`, with the first `length` bytes of the child's label.
  private mutating func divide(_ child: Int, at length: Int, _ edge: Edge) -> Int {
    let label = nodes[child].label
    let middle = makeNode(label: Array(label[..<length]), at: edge)
    // The new node replaces the child at the parent.
    nodes[edge.parent].childCount -= 1
    nodes[middle].childCount = 1
    nodes[child].label = Array(label[length...])
    children[Edge(parent: middle, byte: label[length])] = child
    return middle
  }

  private mutating func makeNode(label: [UInt8], at edge: Edge) -> Int {
    let node: Int
    if let free = unused.popLast() {
      node = free
      nodes[node] = Node(label: label)
    } else {
      node = nodes.count
      nodes.append(Node(label: label))
    }
    children[edge] = node
    nodes[edge.parent].childCount += 1
    return node
  }

  /// Returns the nodes from the root to the end of a prefix; nil if no node is at that end.
  private func path(to prefix: [UInt8]) -> [Int]? {
    var path = [0]
    var (node, offset) = (0, 0)
    while offset < prefix.count {
      guard let child = children[Edge(parent: node, byte: prefix[offset])] else { return nil }
      let label = nodes[child].label
      guard prefix[offset...].starts(with: label) else { return nil }
      path.append(child)
      offset += label.count
      node = child
    }
    return path
  }

  /// Removes nodes without a number and without children, from the end of a path upwards.
  private mutating func prune(_ path: [Int]) {
    for (parent, node) in zip(path, path.dropFirst()).reversed() {
      guard nodes[node].number == 0, nodes[node].childCount == 0 else { return }
      children[Edge(parent: parent, byte: nodes[node].label[0])] = nil
      nodes[parent].childCount -= 1
      nodes[node].label = []
      unused.append(node)
    }
  }

  private func commonLength(_ label: [UInt8], _ rest: ArraySlice<UInt8>) -> Int {
    zip(label, rest).prefix { $0 == $1 }.count
  }
}
