import ArgumentParser
import Cistern

/// The name of an eviction policy on the command line.
struct PolicyArgument: ExpressibleByArgument {
  let kind: EvictionPolicyKind

  init(_ kind: EvictionPolicyKind) {
    self.kind = kind
  }

  init?(argument: String) {
    guard let kind = EvictionPolicyKind(rawValue: argument.lowercased()) else { return nil }
    self.kind = kind
  }

  var defaultValueDescription: String { kind.rawValue }

  static var allValueStrings: [String] { EvictionPolicyKind.allCases.map(\.rawValue) }

  static var names: String { allValueStrings.joined(separator: ", ") }
}
