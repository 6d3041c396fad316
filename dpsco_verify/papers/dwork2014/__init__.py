"""Dwork and Roth 2014, The Algorithmic Foundations of Differential Privacy: the basic mechanisms and composition."""
