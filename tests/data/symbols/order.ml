(* let ghost = 1 (* let inner = 2 *) *)
open Core

(** An order.
    It has items. *)
type 'a order = {
  items : 'a list; [@default []]
  id : int;
}
[@@deriving show, eq]

type _ expr =
  | Int : int -> int expr
  | Add : int expr * int expr -> int expr

let sql = {|let fake = 1|}

let[@inline] rec total ?(n = 1) ~label (x : int) : int =
  let own = x + n in
  let helper y = y in
  match x with
  | 0 -> own
  | _ -> let open Core in helper 1
and other = function
  | [] -> 0
  | _ :: _ -> 1

let ( >>= ) m f = f m
let () = ignore sql
let (p, _) = (1, 2)
let { id; _ } = order

module type Store = sig
  type t
  val add : t -> int -> t
  exception Missing of string
end

module Make (X : Store) (Y : Store) : Store with type t = X.t = struct
  type t = X.t
  let add t n = let own = n in X.add t own
  module Deep = struct
    let go () = ()
  end
end

module rec A : sig type t end = struct type t = int end
and B : sig type t end = struct type t = int end

class virtual shape name = object (self)
  val mutable n = 0
  method virtual area : float
  method describe = let own = 1 in name
  method private hidden = 1
end
external far : int -> int = "far"
