import Foundation

/// A part of a path between two slashes. The router and the client of the origin leave it encoded: "Ann%20Lee".
package enum PathPart {
  /// Returns the text that a part stands for, or nil if it stands for no text.
  package static func decode(_ part: String) -> String? { part.removingPercentEncoding }

  /// Returns the part that stands for a text.
  package static func encode(_ text: String) -> String {
    // The encoding of a valid text never fails.
    text.addingPercentEncoding(withAllowedCharacters: unencoded)!
  }

  private static let unencoded = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "/"))
}
